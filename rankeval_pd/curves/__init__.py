"""How does it look over all cut-offs, and how good is it as a whole?"""
