package main

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// pair is an experiment of `tare bench` with two revisions whose true ratio is known.
type pair struct {
	name           string                     // name of the file with its lines
	truth          string                     // description of the difference
	module         string                     // base's source in the folder module
	truths         map[string]float64         // head / base of each benchmark that differs
	edit           func(source string) string // makes the source of head from that of base
	bench          string                     // --bench: names with | between them
	budget         string                     // --budget
	first          uint64                     // first seed
	studies        int                        // 0: only counted, not timed
	blocks         int                        // -count of go test for benchstat; 0 for none
	blockBenchtime time.Duration              // -benchtime: blocks take as long as the study
	withBlocks     int                        // studies with blocks, from the first
}

//go:embed module
var module embed.FS

var pairs = []pair{
	{name: "bench-same", truth: "equal but for a comment", module: "work", edit: replaceOnce("// Mix is", "// Mix, with a comment, is"),
		bench: "Mix|Sum|Find", budget: "30s", first: 9101, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, withBlocks: 60},
	{name: "bench-reordered", truth: "equal but for the order of functions", module: "work", edit: reverseOrder,
		bench: "Mix|Sum|Find", budget: "30s", first: 9401, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, withBlocks: 30},
	{name: "bench-dead", truth: "equal but for twenty functions that nothing calls", module: "work", edit: addDeadCode,
		bench: "Mix|Sum|Find", budget: "30s", first: 9501, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, withBlocks: 20},
	{name: "bench-grown", truth: "equal but for a longer function that they do not call", module: "work", edit: lengthenAllocate,
		bench: "Mix|Sum|Find", budget: "30s", first: 9601, studies: 60, blocks: 10, blockBenchtime: 360 * time.Millisecond, withBlocks: 20},
	{name: "bench-slower", truth: "Mix +5 %", module: "work", truths: map[string]float64{"Mix": 1.05}, edit: replaceOnce("mixes  = 400", "mixes  = 420"),
		bench: "Mix|Sum|Find", budget: "60s", first: 9201, studies: 30},
	{name: "bench-alloc", truth: "Allocate 20 → 21 allocations", module: "work", truths: map[string]float64{"Allocate": 21.0 / 20}, edit: replaceOnce("blocks = 20", "blocks = 21"),
		bench: "Allocate", budget: "60s", first: 9301, studies: 20},
	{name: "bench-loops", truth: "ten loops with 3 to 8 % more turns", module: "loops", truths: loopRatios(), edit: lengthenLoops,
		bench: strings.Join(slices.Sorted(maps.Keys(loops)), "|"), budget: "300s", first: 501, studies: 10, blocks: 10, blockBenchtime: 1300 * time.Millisecond, withBlocks: 3},
	{name: "bench-orders", truth: "five of a hundred lines are read twice", module: "orders", truths: map[string]float64{"Read": 1.05}, edit: replaceOnce("const check = 0", "const check = 5"),
		bench: "Read", budget: "60s", first: 701, studies: 30},
	{name: "bench-shapes", truth: "twenty functions with 1 % more turns or calls", module: "shapes", truths: sameRatio(shapes, 1.01), edit: lengthenShapes,
		bench: strings.Join(shapes, "|")},
}

var shapes = []string{
	"Allocate", "Append", "Build", "Channel", "Closure", "Convert", "Defer", "Encode", "Format", "Generic",
	"Interface", "Loop", "MapRead", "MapWrite", "Match", "Recursion", "Runes", "Sort", "Split", "TypeSwitch",
}

func sameRatio(names []string, ratio float64) map[string]float64 {
	out := map[string]float64{}
	for _, name := range names {
		out[name] = ratio
	}
	return out
}

// lengthenShapes adds one turn or call for each hundred.
func lengthenShapes(source string) string {
	return replaceOnce("calls = 100\n", "calls = 101\n")(replaceOnce("turns = 1000\n", "turns = 1010\n")(source))
}

// loops has the iterations of each loop at base, and the number that head adds.
var loops = map[string][2]int{
	"Squares": {5000, 300}, "Xor": {4000, 160}, "Branch": {6000, 300}, "Bytes": {7000, 210}, "Two": {8000, 640},
	"Div": {1000, 70}, "Float": {3000, 150}, "Call": {3000, 120}, "Scan": {5000, 300}, "Nested": {800, 24},
}

func loopRatios() map[string]float64 {
	out := map[string]float64{}
	for name, iterations := range loops {
		out[name] = 1 + float64(iterations[1])/float64(iterations[0])
	}
	return out
}

// replaceOnce returns an edit that replaces before, which the source must contain exactly once.
func replaceOnce(before, after string) func(string) string {
	return func(source string) string {
		if strings.Count(source, before) != 1 {
			return source // readSources reports that head equals base
		}
		return strings.Replace(source, before, after, 1)
	}
}

// splitDeclarations splits a source before each comment that follows an empty line. head is the text
// before the first such comment.
func splitDeclarations(source string) (head string, parts []string) {
	all := strings.Split(source, "\n\n// ")
	for _, p := range all[1:] {
		parts = append(parts, "\n\n// "+strings.TrimRight(p, "\n"))
	}
	return all[0], parts
}

func reverseOrder(source string) string {
	head, parts := splitDeclarations(source)
	slices.Reverse(parts)
	return head + strings.Join(parts, "") + "\n"
}

func addDeadCode(source string) string {
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

func lengthenAllocate(source string) string {
	longer := strings.Repeat("\tfor b := list; b != nil; b = b.next {\n\t\tb.rest[0] += b.rest[1] ^ 3\n\t}\n", 6)
	return replaceOnce("\treturn list\n", longer+"\treturn list\n")(source)
}

func lengthenLoops(source string) string {
	for name, iterations := range loops {
		before, after := fmt.Sprintf("var extra%s = 0\n", name), fmt.Sprintf("var extra%s = %d\n", name, iterations[1])
		source = replaceOnce(before, after)(source)
	}
	return source
}

// readSources returns the sources of base, of head and of their common benchmarks.
func (p pair) readSources() (base, head, tests string, err error) {
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
