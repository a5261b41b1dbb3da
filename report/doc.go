// Package report renders a result: for people ([Text], [Markdown] and
// [Research]) and for programs ([JSON], [CSV] and [Benchfmt]); [Formats] is
// the table of them, and [Outline] is what a page is made of that lays the same
// sentences and tables out itself. It selects, orders and scales; every figure
// it prints stands in the result. It measures nothing and computes no statistic.
package report
