package initcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Actions that a workflow uses. They are named by commit, because a tag can be moved.
const (
	checkoutAction = "actions/checkout@11d5960a326750d5838078e36cf38b85af677262 # v4.4.0"
	setupGoAction  = "actions/setup-go@40f1582b2485089dde7abd97c1529aa768e1baff # v5.6.0"
	tareCommit     = "740b3c38b6206402e359554ab869106344f6e1e6"
	tareAction     = "tarebench/tare@" + tareCommit + " # main, 2026-11-27"
)

// forge is a service that hosts repositories and runs CI.
type forge struct {
	flag string
	name string
	path func(root string) string   // returns the path of the workflow below root, the top of the repository
	text func(module string) string // returns the workflow for a module; module is its directory below the top, "" for the top
	next func(path string) string   // returns advice on the next step with the written workflow
}

func forges() []forge {
	commitStep := func(path string) string { return "commit " + path + "; each pull request gets a verdict" }
	return []forge{
		{
			flag: "github", name: "GitHub Actions", path: fixedPath(".github/workflows/tare.yml"), next: commitStep,
			text: func(module string) string { return actionsWorkflow("", module) },
		},
		{
			flag: "gitlab", name: "GitLab CI", path: gitlabPath, text: gitlabJob,
			next: func(path string) string {
				if path != gitlabMain {
					return "add include: [{local: /" + path + "}] to " + gitlabMain + ", and commit both"
				}
				return "commit " + path + "; each merge request gets a verdict"
			},
		},
		{
			flag: "forgejo", name: "Forgejo Actions", path: fixedPath(".forgejo/workflows/tare.yml"), next: commitStep,
			text: func(module string) string { return actionsWorkflow("https://github.com/", module) },
		},
	}
}

// fixedPath returns a forge.path that is the same in every repository.
func fixedPath(path string) func(string) string { return func(string) string { return path } }

const gitlabMain = ".gitlab-ci.yml"

// gitlabPath returns the file of the job: the one that GitLab reads or, if that exists, another to
// include in it.
func gitlabPath(root string) string {
	if _, err := os.Lstat(filepath.Join(root, gitlabMain)); err == nil {
		return ".gitlab/tare-gate.yml"
	}
	return gitlabMain
}

// actionsWorkflow returns a workflow of one job. host is the prefix of action names: "" on GitHub, the
// URL of GitHub elsewhere.
func actionsWorkflow(host, module string) string {
	text := `name: tare
on: pull_request
permissions: {contents: read, pull-requests: read}
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: ` + host + checkoutAction + `
        with: {fetch-depth: 0, persist-credentials: false}
      - uses: ` + host + setupGoAction + `
        with: {go-version-file: ` + quoteYAML(joinPath(module, "go.mod")) + `}
      - uses: ` + host + tareAction + "\n"
	if module != "" {
		text += "        with: {working-directory: " + quoteYAML(module) + "}\n"
	}
	return text
}

func gitlabJob(module string) string {
	changeDir := ""
	if module != "" {
		changeDir = "\n    - " + quoteYAML("cd "+cmdenv.ShellQuote(module))
	}
	return `gate:
  image: golang:1.26
  variables:
    GIT_DEPTH: 0
    TARE_CACHE: $CI_PROJECT_DIR/.cache/tare
    TARE_DATA: $CI_PROJECT_DIR/tare-gate
  cache: {key: tare, paths: [.cache/tare]}
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:` + changeDir + `
    - go install github.com/tarebench/tare/cmd/tare@` + tareCommit[:12] + `
    - git fetch origin "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME:refs/remotes/origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
    - tare gate --base "merge-base origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" -o "$CI_PROJECT_DIR/gate.json" --gitlab "$CI_PROJECT_DIR/gl-code-quality-report.json"
  artifacts:
    when: always
    paths: [gate.json, tare-gate]
    reports: {codequality: gl-code-quality-report.json}
`
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// quoteYAML returns text as a value of a YAML flow mapping. It quotes the text unless all characters
// are plain.
func quoteYAML(text string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// writeWorkflow writes the workflow for the module in home. It returns the path below root, and advice
// on the next step.
func writeWorkflow(f forge, root, home string, force bool) (path, next string, err error) {
	module, err := filepath.Rel(root, home)
	if err != nil {
		return "", "", fmt.Errorf("find %s below %s: %w", home, root, err)
	}
	module = filepath.ToSlash(module)
	if module == "." {
		module = ""
	}
	if strings.ContainsAny(module, "\n\r") {
		return "", "", cmdenv.Usage(fmt.Sprintf("the directory %q cannot be named in a workflow", module), "rename it")
	}
	path = f.path(root)
	full := filepath.Join(root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return "", "", fmt.Errorf("make the directory of %s: %w", path, cmdenv.Cause(err))
	}
	return path, f.next(path), writeFile(full, []byte(f.text(module)), force)
}
