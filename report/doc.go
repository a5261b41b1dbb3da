// Package report renders the result of a study. [Text], [Markdown] and [Research] are for people; [JSON], [CSV]
// and [Benchfmt] are for programs. [Formats] lists all formats. [Outline] returns the same contents for a page
// with another layout.
//
// The package selects, orders and scales. It measures nothing and computes no statistic.
package report
