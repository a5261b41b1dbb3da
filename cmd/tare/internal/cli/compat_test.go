package cli_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/golden"
)

// TestSavedResultsStillRead reads results that earlier versions saved and
// compares what report prints of them with the golden files next to them. A
// difference is either meant, or a break of a format that others have saved.
func TestSavedResultsStillRead(t *testing.T) {
	saved, err := filepath.Glob("testdata/compat/*.json.gz")
	if err != nil || len(saved) < 3 {
		t.Fatalf("%d saved results, %v", len(saved), err)
	}
	for _, path := range saved {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		t.Run(name, func(t *testing.T) {
			result := filepath.Join(t.TempDir(), "result.json")
			if err := os.WriteFile(result, unpack(t, path), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"text", "brief", "md", "json", "benchfmt", "csv", "research", "html"} {
				var out, errs bytes.Buffer
				if code := cli.Main(t.Context(), cmdenv.Env{Args: []string{"report", result, "--format", format}, Getenv: home(t), Out: &out, Err: &errs}); code != 0 {
					t.Fatalf("--format %s: exit code %d: %s", format, code, errs.String())
				}
				if format == "html" {
					golden.Check(t, "compat/"+name+".html", digestAssets(out.Bytes()))
				} else if format != "json" {
					golden.Check(t, "compat/"+name+"."+format, out.Bytes())
				} else if !bytes.Equal(out.Bytes(), unpack(t, path)) {
					t.Errorf("--format json writes %d bytes that are not those of %s", out.Len(), path)
				}
			}
		})
	}
}

// TestSavedHistoryStillReads imports what an earlier version exported, and exports the
// same bytes.
func TestSavedHistoryStillReads(t *testing.T) {
	env, saved := home(t), unpack(t, "testdata/saved/history.ndjson.gz")
	file := filepath.Join(t.TempDir(), "history.ndjson")
	if err := os.WriteFile(file, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, args := range [][]string{{"history", "import", file}, {"history", "check"}, {"history", "export", "-"}} {
		out.Reset()
		var errs bytes.Buffer
		if code := cli.Main(t.Context(), cmdenv.Env{Args: args, Getenv: env, Out: &out, Err: &errs}); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
		}
	}
	if !bytes.Equal(out.Bytes(), saved) {
		t.Errorf("exported are %d bytes, imported were %d", out.Len(), len(saved))
	}
}

// TestSavedGatesStillMerge merges the parts of a gate that an earlier version wrote.
func TestSavedGatesStillMerge(t *testing.T) {
	args := []string{"gate", "merge"}
	for _, part := range []string{"gate-part1", "gate-part2"} {
		file := filepath.Join(t.TempDir(), part+".json")
		if err := os.WriteFile(file, unpack(t, filepath.Join("testdata/saved", part+".json.gz")), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	var out, errs bytes.Buffer
	env := cmdenv.Env{Args: args, Getenv: home(t), Out: &out, Err: &errs}
	if code := cli.Main(t.Context(), env); code != cmdenv.ExitUsage || !strings.Contains(errs.String(), "there is no commit ") {
		t.Errorf("in another repository: exit code %d: %s", code, errs.String())
	}
	out.Reset()
	errs.Reset()
	t.Run("outside repositories", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if code := cli.Main(t.Context(), env); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
	})
	golden.Check(t, "saved/gate.text", out.Bytes())
}

// digestAssets puts digests in place of what style and script elements of a page hold:
// assets that have files of their own, and the result.
func digestAssets(page []byte) []byte {
	return regexp.MustCompile(`(?s)(<(?:style|script)[^>]*>)(.*?)(</(?:style|script)>)`).ReplaceAllFunc(page, func(element []byte) []byte {
		begin, end := bytes.IndexByte(element, '>')+1, bytes.LastIndexByte(element, '<')
		return fmt.Appendf(nil, "%ssha256 %x%s", element[:begin], sha256.Sum256(element[begin:end]), element[end:])
	})
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// home is an environment with directories of the test's own.
func home(t *testing.T) func(string) string {
	dir := t.TempDir()
	return func(name string) string {
		switch name {
		case "HOME", "TARE_CACHE", "TARE_DATA":
			return filepath.Join(dir, name)
		}
		return ""
	}
}

// TestHelp compares the help of every command with its golden file.
func TestHelp(t *testing.T) {
	var all bytes.Buffer
	for _, command := range commands(t) {
		var out, errs bytes.Buffer
		if code := cli.Main(t.Context(), cmdenv.Env{Args: append(command, "--help"), Getenv: home(t), Out: &out, Err: &errs}); code != 0 {
			t.Fatalf("%v --help: exit code %d: %s", command, code, errs.String())
		}
		fmt.Fprintf(&all, "=== tare %s\n%s\n", strings.Join(command, " "), out.String())
	}
	golden.Check(t, "compat/help.txt", all.Bytes())
}

// commands are the root command, and those that its help lists with theirs.
func commands(t *testing.T, above ...string) [][]string {
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), cmdenv.Env{Args: append(slices.Clone(above), "--help"), Getenv: home(t), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("%v --help: exit code %d: %s", above, code, errs.String())
	}
	list := [][]string{above}
	listing := false
	for _, line := range strings.Split(out.String(), "\n") {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasSuffix(line, "ommands:"):
			listing = true
		case line == "" || !strings.HasPrefix(line, "  "):
			listing = false
		case listing && name != "help":
			list = append(list, commands(t, append(slices.Clone(above), name)...)...)
		}
	}
	return list
}
