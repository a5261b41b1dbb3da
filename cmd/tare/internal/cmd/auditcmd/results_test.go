package auditcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

const wrkReport = "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\n  Non-2xx or 3xx responses: 950\nRequests/sec:   1000.00\n"

// runAudit returns what tare audit prints for args, and its error.
func runAudit(t *testing.T, in string, args ...string) (out, complaints string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := Command(cmdenv.Env{In: strings.NewReader(in), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Lab: cmdenv.Lab{Terminal: func(any) (int, int, bool) { return 0, 0, false }}})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// Results and pages are read by their content: from standard input, a file, and a directory,
// in which only what has figures counts.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md": "# Shop\n\n~~~\n" + wrkReport + "~~~\n", "notes.txt": "nothing of the kind\n", "broken.txt": "a\x00b\n",
		"vendor/other/README.md": wrkReport, "raw": wrkReport, "empty.txt": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		in, arg, want, note string
	}{
		{wrkReport, "-", "-:5: warn errors-left-out: 950 requests failed", ""},
		{"", filepath.Join(dir, "raw"), ":5: warn errors-left-out: 950 requests failed", ""},
		{"", dir, "README.md:8: warn errors-left-out: 950 requests failed", "broken.txt:1:1: not a text: it has a zero byte"},
	} {
		out, complaints, err := runAudit(t, tt.in, tt.arg)
		if err == nil || !strings.Contains(strings.Join(strings.Fields(out), " "), tt.want) || strings.Count(out, "errors-left-out") != 1 {
			t.Errorf("%s: %v\n%s", tt.arg, err, out)
		}
		if !strings.Contains(complaints, tt.note) {
			t.Errorf("%s: complaints %q, want %q", tt.arg, complaints, tt.note)
		}
	}
	for _, arg := range []string{filepath.Join(dir, "notes.txt"), filepath.Join(dir, "broken.txt"), filepath.Join(dir, "none.txt")} {
		if out, _, err := runAudit(t, "", arg); err == nil || out != "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %q", arg, err, out)
		}
	}
}
