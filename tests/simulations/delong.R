# Areas under the ROC curve and DeLong's covariance from all pairs, in base R.
#   python -c "import rankeval_pd.datasets as d; d.simulate_candidates(300, decimals=1, baseline=0.2, quality={'good': 1.5, 'fair': 1.0, 'poor': 0.3}).to_csv('candidates.csv', index=False)"
#   Rscript tests/simulations/delong.R candidates.csv > tests/simulations/delong.csv
candidates <- read.csv(commandArgs(trailingOnly = TRUE)[1])
cat("#", R.version.string, "\n")
g <- candidates$gold == "True"
pair <- function(x, y) (x > y) + 0.5 * (x == y)
measures <- setdiff(names(candidates), "gold")
parts <- lapply(measures, function(m) {
  kernel <- outer(candidates[[m]][g], candidates[[m]][!g], pair)
  list(area = mean(kernel), v10 = rowMeans(kernel), v01 = colMeans(kernel))
})
names(parts) <- measures
covariance <- function(a, b) {
  cov(a$v10, b$v10) / sum(g) + cov(a$v01, b$v01) / sum(!g)
}
rows <- list()
for (i in seq_along(measures)) for (j in seq_along(measures)) if (i <= j) {
  a <- parts[[i]]; b <- parts[[j]]
  difference <- a$area - b$area
  se <- sqrt(covariance(a, a) + covariance(b, b) - 2 * covariance(a, b))
  z <- if (i == j) 0 else difference / se
  half <- qnorm(0.975) * sqrt(covariance(a, a))
  rows[[length(rows) + 1]] <- data.frame(
    measure_a = measures[i], measure_b = measures[j], area_a = a$area, area_b = b$area,
    covariance = covariance(a, b), ci_low_a = a$area - half, ci_high_a = a$area + half,
    z = z, p_value = 2 * pnorm(-abs(z)),
    wilcoxon = unname(wilcox.test(candidates[[i]][g], candidates[[i]][!g], exact = FALSE)$statistic)
  )
}
write.csv(format(do.call(rbind, rows), digits = 16), row.names = FALSE, quote = FALSE)
