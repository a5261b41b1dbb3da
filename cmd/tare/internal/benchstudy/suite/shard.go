package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// Shard selects part Index, counted from 1, of Of parts of the benchmarks. The zero value selects
// all.
type Shard struct{ Index, Of int }

// MaxShards is the largest number of parts.
const MaxShards = 10_000

// ParseShard parses a part such as 2/4.
func ParseShard(text string) (Shard, error) {
	i, n, _ := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(i)
	total, errOf := strconv.Atoi(n)
	areNumbers := errIndex == nil && errOf == nil
	if !areNumbers || index < 1 || index > total || total > MaxShards {
		return Shard{}, fmt.Errorf("%q is not a part such as 2/4; there are at most %d", format.Line(text, 40), MaxShards)
	}
	return Shard{index, total}, nil
}

// String returns Index/Of, or "" for all benchmarks.
func (s Shard) String() string {
	if s.Of <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// FilterIDs returns a predicate for the benchmarks of s. Every id belongs to exactly one shard.
// tests has the packages of both sides, by side.
func (s Shard) FilterIDs(tests map[string][]Tests) func(id string) bool {
	if s.Of <= 1 {
		return func(string) bool { return true }
	}
	var ids []string
	for _, side := range tests {
		for _, t := range side {
			for _, f := range t.TestFiles {
				for _, name := range f.Names {
					ids = append(ids, Benchmark{Package: t.Key(f), Name: name}.ID())
				}
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return func(id string) bool { return slices.Index(ids, id)%s.Of == s.Index-1 }
}
