package stats

import (
	"math/big"
	"slices"
	"strconv"
)

// Ranks returns the ranks contender i of n may have, from 1: low is one more than the number proven
// faster than i, high is n less the number proven slower. faster(i, j) is −1 if i is proven faster
// than j, 1 if slower and 0 if neither is proven; it is called once per ordered pair.
func Ranks(n int, faster func(i, j int) int) (low, high []int) {
	low, high = make([]int, n), make([]int, n)
	for i := range n {
		low[i], high[i] = 1, n
		for j := range n {
			if i == j {
				continue
			}
			switch f := faster(i, j); {
			case f < 0:
				high[i]--
			case f > 0:
				low[i]++
			}
		}
	}
	return low, high
}

// Letters returns a compact letter display: contenders i and j share a letter exactly when they are
// not proven distinct. order lists the contenders from first to last (fastest first), so that
// letters run a, b, c … down the table; nil is 0 … n−1. After 52 letters a group is called by its
// number, (53).
//
// Source: H.-P. Piepho, "An algorithm for a letter-based representation of
// all-pairwise comparisons", J. Comput. Graph. Statist. 13 (2004) 456–466:
// insert (split every group that holds a distinct pair) and absorb (drop groups
// inside another).
func Letters(n int, distinct func(i, j int) bool, order []int) []string {
	if order == nil {
		for i := range n {
			order = append(order, i)
		}
	}
	// A group is a set of positions in order.
	all := new(big.Int)
	for at := range order {
		all.SetBit(all, at, 1)
	}
	groups := []*big.Int{all}
	for i := range order {
		for j := i + 1; j < len(order); j++ {
			if distinct(order[i], order[j]) {
				groups = dropSubsets(splitGroups(groups, i, j))
			}
		}
	}
	// Named by their first member, then by how soon they end.
	slices.SortFunc(groups, func(a, b *big.Int) int {
		for at := range order {
			if d := int(b.Bit(at)) - int(a.Bit(at)); d != 0 {
				return d
			}
		}
		return 0
	})
	out := make([]string, n)
	for g, group := range groups {
		for at, i := range order {
			if group.Bit(at) == 1 {
				out[i] += groupLetter(g)
			}
		}
	}
	return out
}

// splitGroups splits every group with both i and j into one without i and one without j.
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

// dropSubsets drops every group that is a subset of another.
func dropSubsets(groups []*big.Int) []*big.Int {
	var out []*big.Int
	for i, g := range groups {
		contained := slices.ContainsFunc(out, func(o *big.Int) bool { return isSubset(g, o) }) ||
			slices.ContainsFunc(groups[i+1:], func(o *big.Int) bool { return isSubset(g, o) && g.Cmp(o) != 0 })
		if !contained {
			out = append(out, g)
		}
	}
	return out
}

func isSubset(a, b *big.Int) bool { return new(big.Int).AndNot(a, b).Sign() == 0 }

// groupLetter names the i-th group.
func groupLetter(i int) string {
	const names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(names) {
		return names[i : i+1]
	}
	return "(" + strconv.Itoa(i+1) + ")"
}
