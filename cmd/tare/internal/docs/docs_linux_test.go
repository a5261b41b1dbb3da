package docs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const root = "../../../.."

// documents are the pages people read: those at the root, in docs, and beside
// what they describe.
func documents(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool {
		own := strings.HasPrefix(name, "cgocopy/") // whose tests run its page as somebody who has that module alone
		return own || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "docs/research/")
	})
}

// What a block is stands behind its fence, so that no commands escape being run:
// sh, sh slow, or console where what they printed stands beneath them.
func TestEveryBlockSaysWhatItIs(t *testing.T) {
	blocks, err := Blocks(root, documents(t))
	if err != nil {
		t.Fatal(err)
	}
	shell := 0
	for _, b := range blocks {
		if run, _ := b.Shell(); run {
			shell++
		} else if !slices.Contains([]string{"", "text", "console", "yaml", "json", "ndjson", "go", "c", "batch", "exchange", "server-exchange"}, b.Info) {
			t.Errorf("%s: a block of %q; one of shell commands is sh, or sh slow", b, b.Info)
		} else if (b.Info == "" || b.Info == "text") && commands(b.Text) {
			t.Errorf("%s: commands in a block that is not run; say sh, or sh slow", b)
		}
	}
	if shell == 0 {
		t.Error("no shell block was found")
	}
}

// commands reports whether the first line is a command of ours.
func commands(text string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "$ "), "\n")
	words := strings.Fields(first)
	said := len(words) > 1 && strings.HasSuffix(words[1], ":") // what a command printed
	return len(words) > 0 && !said && slices.Contains([]string{"tare", "go", "make", "git", "cd"}, words[0])
}

// Every shell block does what it says, in a copy of the repository, with tare on
// the path. Each document has a copy of its own, in which its blocks follow one
// another; what a block leaves running is ended behind it.
func TestShellBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the commands of the documentation")
	}
	blocks, err := Blocks(root, documents(t))
	if err != nil {
		t.Fatal(err)
	}
	slowToo := os.Getenv("TARE_DOCS") == "slow"
	blocks = slices.DeleteFunc(blocks, func(b Block) bool {
		run, slow := b.Shell()
		return !run || slow && !slowToo
	})
	if len(blocks) == 0 {
		t.Skip("every block takes long; TARE_DOCS=slow runs them")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "tare"), "github.com/tarebench/tare/cmd/tare").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cache := t.TempDir()
	copies := map[string]string{}
	for _, b := range blocks {
		if copies[b.File] == "" {
			copies[b.File] = copyRepository(t)
		}
		t.Run(b.String(), func(t *testing.T) {
			begin := time.Now()
			sh(t, b, copies[b.File], append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GOFLAGS=-buildvcs=false",
				"TARE_CACHE="+cache, "TARE_DATA="+filepath.Join(copies[b.File], "..", "data")))
			t.Logf("%.0f s", time.Since(begin).Seconds())
		})
	}
}

// sh runs a block, and ends what is left of it.
func sh(t *testing.T, b Block, dir string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(placeOf(b.File)))
	cmd.Env = env
	cmd.Stdin = strings.NewReader(b.Text)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if end := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); end == nil && errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the block left a server running, which held its output open
	}
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", b, err, b.Text, out.String())
	}
}

// placeOf is where the commands of a document are typed: at the root, and in the
// module itself for the page of a module that is used alone.
func placeOf(file string) string {
	if dir := filepath.ToSlash(filepath.Dir(file)); dir != "docs" {
		return dir
	}
	return "."
}

// copyRepository is a copy of what git knows here, with a history of its own: a
// branch main, and one commit on top of it that changes the example.
func copyRepository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tare")
	script := `set -e
mkdir -p "$1"
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | tar -c --null -T - | tar -x -C "$1"
cd "$1"
git init -q -b main
git config user.name docs; git config user.email docs@example.com
git add -A; git commit -q -m main
git update-ref refs/remotes/origin/main HEAD
git checkout -q -b change
sed -i 's/^	var orders \[\]Order$/	orders := make([]Order, 0, bytes.Count(lines, []byte("\\n")))/' examples/shop/order.go
git commit -q -a -m 'shop: room for all orders at once'`
	cmd := exec.Command("bash", "-c", script, "bash", dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}
