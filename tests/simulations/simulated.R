# R's own tests on simulated candidates: acceptance sets of two measures at equal thresholds. Rounded
# to one decimal, the scores have ties; the lists compared are acceptance sets that cut no tie.
#   python -c "import rankeval_pd.datasets as d; d.simulate_candidates(2000, decimals=1).to_csv('candidates.csv')"
#   Rscript tests/simulations/simulated.R candidates.csv > tests/simulations/simulated.csv
candidates <- read.csv(commandArgs(trailingOnly = TRUE)[1])
cat("#", R.version.string, "\n")
g <- candidates$gold == "True"
N <- nrow(candidates); P <- sum(g)
rows <- list()
for (cut in c(3.2, 2.5, 2, 1.5, 1, 0.5, 0, -1)) {
  a <- candidates$good >= cut; b <- candidates$fair >= cut
  ta <- sum(g & a); na <- sum(a)
  t1 <- sum(g & a & !b); n1 <- sum(a & !b); t2 <- sum(g & b & !a); n2 <- sum(b & !a)
  ci <- binom.test(ta, na)$conf.int
  m <- matrix(c(t1, n1 - t1, t2, n2 - t2), 2)
  rows[[length(rows) + 1]] <- data.frame(
    threshold = cut, n_candidates = N, n_positive = P, n_a = na, tp_a = ta, n_b = sum(b),
    ci_low = ci[1], ci_high = ci[2],
    n_only_a = n1, tp_only_a = t1, n_only_b = n2, tp_only_b = t2,
    p_two_sided = fisher.test(m)$p.value,
    p_greater = fisher.test(m, alternative = "greater")$p.value,
    p_less = fisher.test(m, alternative = "less")$p.value,
    p_random = phyper(ta - 1, P, N - P, na, lower.tail = FALSE),
    log_p_random = phyper(ta - 1, P, N - P, na, lower.tail = FALSE, log.p = TRUE))
}
table <- do.call(rbind, rows)
cat(paste(names(table), collapse = ","), "\n", sep = "")
for (i in seq_len(nrow(table))) cat(paste(sprintf("%.17g", unlist(table[i, ])), collapse = ","), "\n", sep = "")
