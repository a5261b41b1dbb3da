package initcmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// TestWorkflows checks every workflow: it is YAML, names others' code by commit, and has at
// most twelve lines on GitHub for a module at the top.
func TestWorkflows(t *testing.T) {
	docs, err := os.ReadFile("../../../../../deploy/ci/README.md")
	if err != nil {
		t.Fatal(err)
	}
	uses := regexp.MustCompile(`uses: (\S+?)@(\S+)`)
	for _, f := range forges() {
		for _, module := range []string{"", "services/shop", "it's a: {dir}"} {
			text := f.text(module)
			var read map[string]any
			if err := yaml.Unmarshal([]byte(text), &read); err != nil {
				t.Errorf("%s, %q: %v\n%s", f.flag, module, err, text)
			}
			for _, m := range uses.FindAllStringSubmatch(text, -1) {
				if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(m[2]) || !strings.Contains(string(docs), strings.TrimPrefix(m[1], "https://github.com/")+"@"+m[2]) {
					t.Errorf("%s: %s is not pinned as in deploy/ci/README.md", f.flag, m[0])
				}
			}
		}
		if n := strings.Count(f.text(""), "\n"); f.flag == "github" && n > 12 {
			t.Errorf("the workflow of GitHub has %d lines", n)
		}
		if f.flag != "forgejo" && !strings.Contains(string(docs), "```yaml\n"+f.text("")+"```") {
			t.Errorf("deploy/ci/README.md does not show the workflow of %s:\n%s", f.flag, f.text(""))
		}
	}
	if step := actionsWorkflow("", "a/b"); !strings.Contains(step, "{go-version-file: a/b/go.mod}") || !strings.Contains(step, "{working-directory: a/b}") {
		t.Errorf("of a module below the top:\n%s", step)
	}
}

// TestWriteWorkflow writes each workflow once, and not over one that is there.
func TestWriteWorkflow(t *testing.T) {
	for _, f := range forges() {
		root := t.TempDir()
		path, next, err := writeWorkflow(f, root, filepath.Join(root, "m"), false)
		if err != nil || !strings.Contains(next, path) {
			t.Fatalf("%s: %q, %v", f.flag, next, err)
		}
		full := filepath.Join(root, filepath.FromSlash(path))
		if text, err := os.ReadFile(full); err != nil || string(text) != f.text("m") {
			t.Errorf("%s: %v\n%s", f.flag, err, text)
		}
		if f.flag == "gitlab" {
			if path, next, err = writeWorkflow(f, root, root, false); err != nil || path != ".gitlab/tare-gate.yml" || !strings.Contains(next, "include: [{local: /.gitlab/tare-gate.yml}]") {
				t.Errorf("beside a pipeline: %s, %s, %v", path, next, err)
			}
		}
		if _, _, err = writeWorkflow(f, root, root, false); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
			t.Errorf("%s: written over: %v", f.flag, err)
		}
		if _, _, err = writeWorkflow(f, root, root, true); err != nil {
			t.Errorf("%s: with --force: %v", f.flag, err)
		}
	}
}
