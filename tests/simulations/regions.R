# Writes reference values of 2x2 tables of two difference regions to stdout:
#   Rscript tests/simulations/regions.R > tests/simulations/regions.csv
tables <- list(c(63, 192, 34, 192), c(44, 157, 26, 157), c(3, 10, 8, 15), c(0, 5, 3, 9),
               c(5, 5, 3, 9), c(700, 1900, 400, 1800), c(12, 400, 3, 380))
cat(sprintf("# %s\n", R.version.string))
cat("tp_a,n_a,tp_b,n_b,odds_ratio,low,high,mcnemar,mcnemar_greater,mcnemar_less\n")
for (t in tables) {
  a <- t[1]; n <- t[2]; b <- t[3]; m <- t[4]
  exact <- fisher.test(matrix(c(a, n - a, b, m - b), 2), conf.level = 0.9)
  mcnemar <- sapply(c("two.sided", "greater", "less"),
                    function(side) binom.test(a + m - b, n + m, alternative = side)$p.value)
  cat(paste(c(t, sprintf("%.17g", c(exact$estimate, exact$conf.int, mcnemar))), collapse = ","), "\n", sep = "")
}
