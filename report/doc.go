// Package report renders the result of a study: for people ([Text], [Markdown]
// and [Research]) and for programs ([JSON], [CSV] and [Benchfmt]). [Formats]
// lists all formats, and [Outline] returns the same sentences and tables for a
// page with its own layout. The package selects, orders and scales: every number
// that it prints is in the result. It measures nothing and computes no statistic.
package report
