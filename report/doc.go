// Package report renders a result: for people ([Text], [Markdown] and
// [Research]) and for programs ([JSON], [CSV] and [Benchfmt]); [Formats] is
// the table of them. It selects, orders and scales; every figure it prints
// stands in the result. It measures nothing and computes no statistic.
package report
