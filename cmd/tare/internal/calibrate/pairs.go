package main

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// pair is an experiment of `tare bench`: what head has that base has not, and
// how often that is asked.
type pair struct {
	name, truth    string
	module         string                     // its source in folder module
	truths         map[string]float64         // head / base of the benchmarks that differ
	edit           func(source string) string // makes head's source of base's
	bench, budget  string
	first          uint64 // seed
	studies        int
	blocks         int           // of go test -count beside it, as benchstat is usually fed; 0: none
	blockBenchtime time.Duration // so that they take as long as the study
	beside         int           // how many studies, the first ones, have blocks beside them
}

//go:embed module
var module embed.FS

var pairs = []pair{
	{name: "bench-same", truth: "equal but for a comment", module: "work", edit: swap("// Mix is", "// Mix, with a comment, is"),
		bench: "Mix|Sum|Find", budget: "30s", first: 9101, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, beside: 60},
	{name: "bench-reordered", truth: "equal but for the order of functions", module: "work", edit: reordered,
		bench: "Mix|Sum|Find", budget: "30s", first: 9401, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, beside: 30},
	{name: "bench-dead", truth: "equal but for twenty functions that nothing calls", module: "work", edit: withDeadCode,
		bench: "Mix|Sum|Find", budget: "30s", first: 9501, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, beside: 20},
	{name: "bench-grown", truth: "equal but for a longer function that they do not call", module: "work", edit: withLongerAllocate,
		bench: "Mix|Sum|Find", budget: "30s", first: 9601, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, beside: 20},
	{name: "bench-slower", truth: "Mix +5 %", module: "work", truths: map[string]float64{"Mix": 1.05}, edit: swap("mixes  = 400", "mixes  = 420"),
		bench: "Mix|Sum|Find", budget: "60s", first: 9201, studies: 30},
	{name: "bench-alloc", truth: "Allocate 20 → 21 allocations", module: "work", truths: map[string]float64{"Allocate": 21.0 / 20}, edit: swap("blocks = 20", "blocks = 21"),
		bench: "Allocate", budget: "60s", first: 9301, studies: 20},
	{name: "bench-loops", truth: "ten loops with 3 to 8 % more turns", module: "loops", truths: truthsOfLoops(), edit: longerLoops,
		bench: strings.Join(slices.Sorted(maps.Keys(loops)), "|"), budget: "300s", first: 501, studies: 10, blocks: 10, blockBenchtime: 1300 * time.Millisecond, beside: 3},
	{name: "bench-orders", truth: "five of a hundred lines are read twice", module: "orders", truths: map[string]float64{"Read": 1.05}, edit: swap("const check = 0", "const check = 5"),
		bench: "Read", budget: "60s", first: 701, studies: 30},
}

// loops are the benchmarks of module loops: their turns at base, and how many
// more head has.
var loops = map[string][2]int{
	"Squares": {5000, 300}, "Xor": {4000, 160}, "Branch": {6000, 300}, "Bytes": {7000, 210}, "Two": {8000, 640},
	"Div": {1000, 70}, "Float": {3000, 150}, "Call": {3000, 120}, "Scan": {5000, 300}, "Nested": {800, 24},
}

// truthsOfLoops are their true ratios.
func truthsOfLoops() map[string]float64 {
	out := map[string]float64{}
	for name, turns := range loops {
		out[name] = 1 + float64(turns[1])/float64(turns[0])
	}
	return out
}

// swap replaces what the source has once.
func swap(before, after string) func(string) string {
	return func(source string) string {
		if strings.Count(source, before) != 1 {
			return source // which is an error: head equals base
		}
		return strings.Replace(source, before, after, 1)
	}
}

// declarations of a source, split where one begins at the start of a line after
// an empty one; the first part is what stands before them.
func declarations(source string) (head string, parts []string) {
	all := strings.Split(source, "\n\n// ")
	for _, p := range all[1:] {
		parts = append(parts, "\n\n// "+strings.TrimRight(p, "\n"))
	}
	return all[0], parts
}

func reordered(source string) string {
	head, parts := declarations(source)
	slices.Reverse(parts)
	return head + strings.Join(parts, "") + "\n"
}

func withDeadCode(source string) string {
	var b strings.Builder
	b.WriteString(source)
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("dead%d", i)
		names = append(names, name)
		fmt.Fprintf(&b, "\n//go:noinline\nfunc %s(n int) (s int) {\n\tfor i := range n {\n\t\ts += i*%d ^ s\n\t}\n\treturn s\n}\n", name, i+3)
	}
	fmt.Fprintf(&b, "\n// Dead keeps them in the program.\nvar Dead = []func(int) int{%s}\n", strings.Join(names, ", "))
	return b.String()
}

func withLongerAllocate(source string) string {
	longer := strings.Repeat("\tfor b := list; b != nil; b = b.next {\n\t\tb.rest[0] += b.rest[1] ^ 3\n\t}\n", 6)
	return swap("\treturn list\n", longer+"\treturn list\n")(source)
}

// longerLoops gives each loop the turns that head has more.
func longerLoops(source string) string {
	for name, turns := range loops {
		source = swap(fmt.Sprintf("var extra%s = 0\n", name), fmt.Sprintf("var extra%s = %d\n", name, turns[1]))(source)
	}
	return source
}

// sources are those of both sides and of the benchmarks.
func (p pair) sources() (base, head, tests string, err error) {
	source, err := module.ReadFile("module/" + p.module + ".go.txt")
	if err != nil {
		return "", "", "", err
	}
	text, err := module.ReadFile("module/" + p.module + "_test.go.txt")
	if err != nil {
		return "", "", "", err
	}
	base, head = string(source), p.edit(string(source))
	if base == head {
		return "", "", "", fmt.Errorf("%s: head is as base", p.name)
	}
	return base, head, string(text), nil
}
