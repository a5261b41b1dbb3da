package studyfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzParse: whatever the file holds, the answer is a valid study or an error
// with a position inside the file, in one line.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(served)
	f.Add(besides)
	for _, s := range []string{"contenders: [{id: a, requires: [x, x]}]", "contenders: {id: a, command: [b], path: /, files: {a: |\n b}}", "contenders: [{id: a, command: [b], files: {? [a] : b}, delivers: ~}]", "contenders: [{id: a, answers: [status]}]"} {
		f.Add(s)
	}
	for _, s := range []string{"contenders: [{id: a, command: x y}]", "contenders: [{id: a, command: []}]", "contenders: [{id: a, url: 'http://[::1'}]", "contenders: [{id: a, set: {b: [c], d: .inf, e: 1e999, f: ~}}]", "workloads: [{rate: 1/s}]", "workloads: [{connections: 1, rate: 1e999, bandwidth: 9999999999999999999999mbit, tls: no}]", "decompose: [{steps: [{to: a}, {to: a}]}]", "decompose: [{id: a, workload: w, from: b, steps: {to: c, cause: d}}]", "claims: [{kind: trend, workloads: [a, a]}]", "claims: {kind: count, workload: a}", "criteria: {of: a}"} {
		f.Add(s)
	}
	for _, s := range []string{"", "a: b: c", "? a\n: b", "- - -", "a: &x [*x]", "a: |\n x", "\t", "{a: [}", "é: 'ü", "study: x\nkinds:\n- a\n-b", "a: >=\n", "\"\\", "!", "*", "&", "<<: x", "%", "---", "...", "a: .nan", "a: 0x_", "? [a]: b", ">=\r0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4<<10 {
			return // the library is quadratic in places; small inputs find as much
		}
		watchdog := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("no answer for %q", src)) })
		defer watchdog.Stop()
		s, err := Parse("f.yaml", []byte(src))
		if err == nil {
			if err := s.Validate(); err != nil {
				t.Fatalf("accepted, but %v", err)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%T without a position: %v", err, err)
		}
		lines := strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n")
		if e.Line < 1 || e.Line > len(lines) {
			t.Fatalf("line %d of %d", e.Line, len(lines))
		}
		if e.Col < 1 || e.Col > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Fatalf("column %d of %q", e.Col, lines[e.Line-1])
		}
		if e.What == "" || strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("message %q", err.Error())
		}
	})
}
