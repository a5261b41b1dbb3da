// Package causestest has changes of benchmarks with a known cause, for tests of what explains them.
package causestest

import "fmt"

// Cause is a change with a known cause.
type Cause struct {
	Name       string
	Imports    [2]string // base's and head's; may be ""
	Base, Head string    // declarations, with func Work(i int) int
	Lines      []string  // a gate must print at least one of these
	// Does is the function of which head executes more, or one of its callers. It is "" if head
	// waits.
	Does string
}

const numbers = "var words = []string{\"one\", \"two\", \"three\", \"four\"}\nvar list [64]int\nvar sink any\n"

// Causes returns twelve changes that make Work slower.
func Causes() []Cause {
	return []Cause{
		{"inlining", [2]string{}, "func mix(i int) int { return i*31 + i>>3 }\n" + loopOver("mix(i+k)"), "//go:noinline\nfunc mix(i int) int { return i*31 + i>>3 }\n" + loopOver("mix(i+k)"), []string{"cannot inline mix", "inlining call to mix"}, "planted/inlining.mix"},
		{"escape", [2]string{}, "type point struct{ x, y int }\nfunc Work(i int) int { p := &point{i, i}; return p.x + p.y }", "type point struct{ x, y int }\nvar last *point\nfunc Work(i int) int { p := &point{i, i}; last = p; return p.x + p.y }", []string{"&point{...} escapes to heap"}, "planted/escape.BenchmarkWork"},
		{"map", [2]string{}, "func find(s string) int {\n\tswitch s {\n\tcase \"one\":\n\t\treturn 1\n\tcase \"two\":\n\t\treturn 2\n\t}\n\treturn 3\n}\n" + loopOver("find(words[(i+k)%4])"), "var table = map[string]int{\"one\": 1, \"two\": 2}\nfunc find(s string) int { return table[s] }\n" + loopOver("find(words[(i+k)%4])"), []string{".find"}, "runtime.mapaccess1_faststr"},
		{"lock", [2]string{"", "sync"}, "func add(i int) int { list[i%64] += i; return list[i%64] }\n" + loopOver("add(k)"), "var mu sync.Mutex\nfunc add(i int) int { mu.Lock(); list[i%64] += i; x := list[i%64]; mu.Unlock(); return x }\n" + loopOver("add(k)"), []string{"mu.Lock", "sync.(*Mutex)"}, "planted/lock.add"},
		{"copy", [2]string{}, "var source = make([]byte, 4096)\nfunc Work(i int) int { b := source; return int(b[i%4096]) + sum(i) }\nfunc sum(i int) (t int) { for k := range 64 { t += list[k] + i }; return t }", "var source = make([]byte, 4096)\nfunc Work(i int) int { b := append([]byte(nil), source...); return int(b[i%4096]) + sum(i) }\nfunc sum(i int) (t int) { for k := range 64 { t += list[k] + i }; return t }", []string{"append", "growslice"}, "runtime.memmove"},
		{"regexp", [2]string{"regexp", "regexp"}, "var re = regexp.MustCompile(`^t[a-z]+$`)\nfunc Work(i int) int { if re.MatchString(words[i%4]) { return 1 }; return 0 }", "func Work(i int) int { re := regexp.MustCompile(`^t[a-z]+$`); if re.MatchString(words[i%4]) { return 1 }; return 0 }", []string{"regexp.MustCompile", "regexp.Compile"}, "regexp.MustCompile"},
		{"fmt", [2]string{"strconv", "fmt"}, "func Work(i int) int { return len(strconv.Itoa(i)) }", "func Work(i int) int { return len(fmt.Sprintf(\"%d\", i)) }", []string{"fmt.Sprintf"}, "fmt."},
		{"defer", [2]string{}, "func release(i int) { list[i%64]++ }\nfunc Work(i int) int { for k := range 20 { release(k) }; return i }", "func release(i int) { list[i%64]++ }\nfunc Work(i int) int { for k := range 20 { defer release(k) }; return i }", []string{"only: defer", "deferproc", "nextDefer", "op DEFER"}, "planted/defer.Work"},
		{"bounds", [2]string{}, "func total(l []int, n int) (t int) { for _, x := range l[:n] { t += x }; return t }\nfunc Work(i int) int { return total(list[:], 64) }", "//go:noinline\nfunc total(l []int, n int) (t int) { for k := 0; k < n; k++ { t += l[k] + l[n-1-k] - l[n-1] }; return t }\nfunc Work(i int) int { return total(list[:], 64) }", []string{"bounds check"}, "planted/bounds.total"},
		{"interface", [2]string{}, "type adder struct{ n int }\nfunc (a adder) Add(i int) int { return a.n + i }\nvar a = adder{3}\n" + loopOver("a.Add(k)"), "type adder struct{ n int }\nfunc (a adder) Add(i int) int { return a.n + i }\nvar a interface{ Add(int) int } = adder{3}\n" + loopOver("a.Add(k)"), []string{"adder.Add"}, "planted/interface.BenchmarkWork"},
		{"struct", [2]string{}, "type rec struct{ n int; pad [1]int }\nvar recs [64]rec\n//go:noinline\nfunc read(r rec) int { return r.n }\n" + loopOver("read(recs[k%64])"), "type rec struct{ n int; pad [64]int }\nvar recs [64]rec\n//go:noinline\nfunc read(r rec) int { return r.n }\n" + loopOver("read(recs[k%64])"), []string{".Work", ".read"}, "planted/struct.BenchmarkWork"},
		{"sleep", [2]string{"", "time"}, "func Work(i int) int { return i }", "func Work(i int) int { time.Sleep(50 * time.Microsecond); return i }", []string{"time.Sleep"}, ""},
	}
}

func loopOver(call string) string {
	return "func Work(i int) int { t := 0; for k := range 50 { t += " + call + " }; return t }"
}

// Files returns the files of package planted with BenchmarkWork, without go.mod. imported is the
// import path that declarations need, or "".
func Files(imported, declarations string) map[string]string {
	source := "package planted\n\n"
	if imported != "" {
		source += fmt.Sprintf("import %q\n\n", imported)
	}
	return map[string]string{
		"planted.go":      source + numbers + declarations + "\n",
		"planted_test.go": "package planted\n\nimport \"testing\"\n\nfunc BenchmarkWork(b *testing.B) {\n\tt := 0\n\tfor i := range b.N {\n\t\tt += Work(i)\n\t}\n\tsink = t\n}\n",
	}
}
