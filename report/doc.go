// Package report renders a result for people ([Text]) and for programs
// ([JSON]). It selects, orders and scales; every figure it prints stands in
// the result. It measures nothing and computes no statistic.
package report
