package benchstudy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
)

// Of what the rules find in a measured benchmark there is one note, with the first
// finding and how many more there are; nothing is noted of others, nor of notes.
func TestAuditIsNoted(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.25\n",
		"m_test.go": `package m

import (
	"testing"
	"time"
)

func BenchmarkBad(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Sleep(1)
		defer time.Now()
	}
}

func BenchmarkNote(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		b.StartTimer()
	}
}

func BenchmarkUnmeasured(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Sleep(1)
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []suite.Tests{{Package: suite.Package{ImportPath: "example.com/m", Dir: dir, TestGoFiles: []string{"m_test.go"}}}}
	found, err := auditTests(t.Context(), tests)
	if err != nil {
		t.Fatal(err)
	}
	var b Bench
	b.noteAudit(found, []suite.Benchmark{
		{Package: "example.com/m", Name: "BenchmarkBad/small"}, {Package: "example.com/m", Name: "BenchmarkBad/large"}, {Package: "example.com/m", Name: "BenchmarkNote"},
	})
	const want = "m_test.go:10: sleep-in-loop: the loop sleeps for 1 in each iteration; and 1 more"
	if len(b.findings) != 1 || b.findings[0].Check != Audited().ID || b.findings[0].Workload != "example.com/m.BenchmarkBad/small" || b.findings[0].Message != want {
		t.Errorf("noted %+v; want %q of BenchmarkBad", b.findings, want)
	}
}
