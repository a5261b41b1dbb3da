package stats

import (
	"math/big"
	"slices"
	"strconv"
)

// This file ranks programs of which not all pairs differ significantly. For example, x and y do not
// differ, y and z do not differ, but x is faster than z. Programs that do not differ share a letter:
// x gets a, y gets ab, and z gets b.

// Ranks returns the lowest and highest possible rank of each of n contenders, from 1. compare(i, j)
// returns −1 if i is proven faster than j, 1 if i is proven slower, and 0 if neither is proven.
// low[i] is one more than the number of contenders that are proven faster than i.
func Ranks(n int, compare func(i, j int) int) (low, high []int) {
	low, high = make([]int, n), make([]int, n)
	for i := range n {
		low[i], high[i] = 1, n
		for j := range n {
			if i == j {
				continue
			}
			switch order := compare(i, j); {
			case order < 0:
				high[i]--
			case order > 0:
				low[i]++
			}
		}
	}
	return low, high
}

// Letters returns a compact letter display, e.g. a, ab, b. Contenders i and j share a letter if and
// only if distinct(i, j) is false. order lists the contenders, fastest first; nil means 0 … n−1.
// The 53rd group and later ones have numbers, as (53).
//
// Source: H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
// comparisons", J. Comput. Graph. Statist. 13 (2004) 456–466: insert (split every group that
// contains a distinct pair) and absorb (drop groups inside another group).
func Letters(n int, distinct func(i, j int) bool, order []int) []string {
	if order == nil {
		for i := range n {
			order = append(order, i)
		}
	}
	// A group is a set of bits, by index of order. At first all contenders are one group.
	all := new(big.Int)
	for pos := range order {
		all.SetBit(all, pos, 1)
	}
	groups := []*big.Int{all}
	for i := range order {
		for j := i + 1; j < len(order); j++ {
			if distinct(order[i], order[j]) {
				groups = dropSubsets(splitGroups(groups, i, j))
			}
		}
	}
	// Sort the groups like words: compare two of them at the first contender that only one contains.
	// The group with that contender comes first.
	slices.SortFunc(groups, func(a, b *big.Int) int {
		for pos := range order {
			if d := int(b.Bit(pos)) - int(a.Bit(pos)); d != 0 {
				return d
			}
		}
		return 0
	})
	out := make([]string, n)
	for g, group := range groups {
		for pos, i := range order {
			if group.Bit(pos) == 1 {
				out[i] += groupLetter(g)
			}
		}
	}
	return out
}

// splitGroups splits every group that contains both i and j into one without j and one without i.
func splitGroups(groups []*big.Int, i, j int) []*big.Int {
	var out []*big.Int
	for _, g := range groups {
		if g.Bit(i) == 0 || g.Bit(j) == 0 {
			out = append(out, g)
			continue
		}
		out = append(out,
			new(big.Int).SetBit(g, j, 0),
			new(big.Int).SetBit(g, i, 0))
	}
	return out
}

// dropSubsets drops every group that is a subset of another, and keeps one of equal groups.
func dropSubsets(groups []*big.Int) []*big.Int {
	var out []*big.Int
	for i, g := range groups {
		inEarlier := slices.ContainsFunc(out, func(o *big.Int) bool { return isSubset(g, o) })
		inLater := slices.ContainsFunc(groups[i+1:], func(o *big.Int) bool { return isSubset(g, o) && g.Cmp(o) != 0 })
		if !inEarlier && !inLater {
			out = append(out, g)
		}
	}
	return out
}

func isSubset(a, b *big.Int) bool { return new(big.Int).AndNot(a, b).Sign() == 0 }

func groupLetter(i int) string {
	const names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(names) {
		return names[i : i+1]
	}
	return "(" + strconv.Itoa(i+1) + ")"
}
