package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/format"
)

// An artifact is made by code of the change. A link in it, gate.md to the environment
// of the job that has the token, is not followed by any recipe: nothing is posted.
func TestArtifactLinksAreNotPosted(t *testing.T) {
	for _, tool := range []string{"bash", "stat", "head"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	const canary = "CANARY-of-the-job"
	source, err := os.ReadFile("../../../../deploy/ci/README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../../../deploy/ci/gate.sh")
	if err != nil {
		t.Fatal(err)
	}
	recipe := func(begin, end string) string {
		t.Helper()
		_, rest, ok := strings.Cut(string(source), begin)
		text, _, ends := strings.Cut(rest, end)
		if !ok || !ends {
			t.Fatalf("deploy/ci/README.md has no %q", begin)
		}
		return regexp.MustCompile(`\$\{\{[^}]*\}\}`).ReplaceAllString(text, "1")
	}
	for name, c := range map[string]struct{ command, file string }{
		"GitLab": {recipe("variables: {GIT_STRATEGY: none}\n  script:\n    - |\n", "```"), "gate.md"},
		"Gitea":  {recipe("- env: {GATE_TOKEN: '${{ secrets.GATE_TOKEN }}'}\n      run: |\n", "```"), "gate/gate.md"},
		"GitHub": {"bash " + script + " comment", "gate/gate.md"},
	} {
		for what, put := range map[string]func(path string) error{
			"a text": func(path string) error {
				return os.WriteFile(path, []byte("<!-- tare gate -->\n### tare gate: blocked\n"), 0o644)
			},
			"a link":             func(path string) error { return os.Symlink("/proc/self/environ", path) },
			"a link to a secret": func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "secret"), path) },
			"a directory":        func(path string) error { return os.Mkdir(path, 0o755) },
		} {
			dir := t.TempDir()
			for _, sub := range []string{"gate", "bin"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, secret := range []string{"secret", "gate/secret"} {
				write(t, dir, secret, canary)
			}
			// Whatever would speak to a server writes down what it is given.
			for _, tool := range []string{"curl", "gh", "jq"} {
				text := "#!/bin/bash\nprintf '%s\\n' \"$@\" >>" + dir + "/sent\nfor arg in \"$@\"; do case $arg in *body@*|*body=@*) cat \"${arg#*@}\" >>" + dir + "/sent ;; esac; done\n[ -t 0 ] || cat >>" + dir + "/sent\n"
				if tool == "jq" {
					text = "#!/bin/bash\ncat\n"
				}
				write(t, dir, "bin/"+tool, text)
				if err := os.Chmod(filepath.Join(dir, "bin", tool), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := put(filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-e", "-c", c.command)
			cmd.Dir = dir
			cmd.Env = []string{
				"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "CANARY=" + canary, "GATE_TOKEN=token", "CI_API_V4_URL=http://127.0.0.1:1", "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=1",
				"GITHUB_API_URL=http://127.0.0.1:1", "GITHUB_REPOSITORY=a/b", "GATE_OUT=" + filepath.Join(dir, "gate"), "GATE_PR=1",
			}
			out, err := cmd.CombinedOutput()
			sent, _ := os.ReadFile(filepath.Join(dir, "sent"))
			if strings.Contains(string(sent), canary) {
				t.Errorf("%s: gate.md is %s: the canary is posted", name, what)
			}
			switch {
			case what == "a text":
				if err != nil || !strings.Contains(string(sent), "tare gate: blocked") {
					t.Errorf("%s posts no text: %v, %s, %q", name, err, format.Line(string(out), 300), sent)
				}
			case err == nil || len(sent) > 0:
				t.Errorf("%s: gate.md is %s: %v, %s, %q is sent", name, what, err, format.Line(string(out), 300), sent)
			}
		}
	}
}
