package profilediff

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/trial"
)

// hostile is the variable that says what BenchmarkHostile does.
const hostile = "WHY_TEST_HOSTILE"

// BenchmarkHostile is what TestProfilesAreBounded profiles.
func BenchmarkHostile(b *testing.B) {
	switch os.Getenv(hostile) {
	case "prints":
		line := strings.Repeat("x", 1<<20-1) + "\n"
		for range 70 {
			fmt.Print(line)
		}
	case "prints less": // than is refused, and more than is kept
		fmt.Print(strings.Repeat("y\n", maxPrinted))
	case "allocates":
		all := make([]byte, 400<<20)
		for i := 0; i < len(all); i += 4096 {
			all[i] = 1
		}
		time.Sleep(maxWait)
		runtime.KeepAlive(all)
	case "fails":
		b.Fatal("out of luck")
	case "ends":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	}
}

// A benchmark has the bounds here that it has in the rounds.
func TestProfilesAreBounded(t *testing.T) {
	for part, want := range map[string][]string{
		"nothing":     {},
		"prints":      {"output: wrote more than 64 MiB to stdout and stderr"},
		"prints less": {},
		"allocates":   {"memory: ", "200 MiB"},
		"fails":       {"exit: ended during profiling with exit status 1", "out of luck"},
		"ends":        {"exit: ended during profiling with exit status 3: no licence found"},
	} {
		t.Run(part, func(t *testing.T) {
			if part == "allocates" && runtime.GOOS != "linux" {
				t.Skip("needs /proc")
			}
			t.Parallel()
			side := Side{
				ID: "base", Dir: t.TempDir(), Env: append(os.Environ(), hostile+"="+part),
				Binary: func(context.Context, int) (string, func(), error) { return os.Args[0], func() {}, nil },
				Source: func(context.Context, []string) (Source, error) { return Source{}, nil },
			}
			q := Question{
				Name: "BenchmarkHostile", NSPerOp: 1e9, Rounds: 1, Base: side, Head: side, IsUser: func(string) bool { return false },
				Work: t.TempDir(), Spec: trial.Spec{MemoryLimit: 200 << 20},
			}
			e, err := Explain(t.Context(), q)
			if err != nil || len(want) == 0 && e.Why != "" {
				t.Fatal(err, e.Why)
			}
			for _, w := range want {
				if !strings.HasPrefix(e.Why, "base: profile BenchmarkHostile: ") || !strings.Contains(e.Why, w) {
					t.Errorf("%q, want %q", e.Why, w)
				}
			}
		})
	}
}
