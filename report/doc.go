// Package report renders a result: for people ([Text], [Markdown] and
// [Research]) and for programs ([JSON], [CSV] and [Benchfmt]); [Formats] is
// the table of them, and [Outline] returns the same sentences and tables for a
// page with its own layout. It selects, orders and scales; every number that it
// prints is in the result. It measures nothing and computes no statistic.
package report
