"""Which candidates must be judged, and what do those say that were?"""
