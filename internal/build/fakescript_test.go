package build

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// played is what a scripted go command does.
type played struct {
	dir  string            // where it notes what it was asked
	says map[string]string // by the first words of the arguments: what it prints
	fail map[string]string // likewise: what it prints to standard error before it fails
	hang string            // likewise: where it never ends
	made string            // the program that each of its builds makes
}

// builder returns a Builder whose go command is the script p.
func (p *played) builder(t *testing.T, cache string) *Builder {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.dir = t.TempDir()
	says, _ := json.Marshal(p.says)
	fail, _ := json.Marshal(p.fail)
	return &Builder{Cache: cache, Go: self, Env: append(os.Environ(), "FAKE_GO=script", "FAKE_GO_DIR="+p.dir,
		"FAKE_GO_SAYS="+string(says), "FAKE_GO_FAIL="+string(fail), "FAKE_GO_HANG="+p.hang, "FAKE_GO_MADE="+p.made, "FAKE_GO_BEAT="+filepath.Join(p.dir, "beats"),
		"GOWORK="+filepath.Join(p.dir, "go.work"), "GOFLAGS=-tags=evil")}
}

// asked returns the commands that the script got, with their toolchain and without
// directories that differ from run to run.
func (p *played) asked(t *testing.T) []string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(p.dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(src)) {
		if line = strings.TrimSpace(line); !strings.Contains(line, " env ") {
			out = append(out, line)
		}
	}
	return out
}

var required = regexp.MustCompile(`-require=([^@]+)@(\S+)`)

// runScript is the scripted go command.
func runScript(args []string) {
	line := strings.Join(args, " ")
	log, err := os.OpenFile(filepath.Join(os.Getenv("FAKE_GO_DIR"), "asked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(log, "%s%s%s %s\n", os.Getenv("GOTOOLCHAIN"), os.Getenv("GOFLAGS"), os.Getenv("GOWORK"), line)
	if args[0] == "env" {
		fmt.Printf(`{"GOVERSION":%q,"GOTOOLCHAIN":"local"}`, runtime.Version())
		return
	}
	if hang := os.Getenv("FAKE_GO_HANG"); hang != "" && strings.HasPrefix(line, hang) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FAKE_GO=beat")
		_ = child.Run()
	}
	if text, ok := findEntry(os.Getenv("FAKE_GO_FAIL"), line); ok {
		fmt.Fprint(os.Stderr, text)
		os.Exit(1)
	}
	if text, ok := findEntry(os.Getenv("FAKE_GO_SAYS"), line); ok {
		fmt.Print(text)
	}
	for _, m := range required.FindAllStringSubmatch(line, -1) {
		gomod, _ := os.ReadFile("go.mod")
		old := regexp.MustCompile(regexp.QuoteMeta(m[1]) + ` v\S+`)
		if os.WriteFile("go.mod", old.ReplaceAll(gomod, []byte(m[1]+" "+m[2])), 0o644) != nil {
			os.Exit(1)
		}
	}
	for i, a := range args {
		if a == "-o" && copyFile(os.Getenv("FAKE_GO_MADE"), args[i+1]) != nil {
			os.Exit(1)
		}
	}
}

// findEntry returns the entry of a JSON object whose key is a prefix of line.
func findEntry(object, line string) (string, bool) {
	var all map[string]string
	_ = json.Unmarshal([]byte(object), &all)
	for key, text := range all {
		if strings.HasPrefix(line, key) {
			return text, true
		}
	}
	return "", false
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer dst.Close()
	_, err = io.Copy(dst, src)
	return err
}
