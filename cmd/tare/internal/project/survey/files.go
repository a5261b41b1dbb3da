package survey

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
)

// findCI returns the CI systems with files in dir.
func findCI(dir string) []string {
	found := []string{}
	for _, ci := range []struct{ file, name string }{
		{".github/workflows", GitHub}, {".gitlab-ci.yml", GitLab}, {".circleci/config.yml", "CircleCI"}, {"Jenkinsfile", "Jenkins"},
		{".travis.yml", "Travis CI"}, {"azure-pipelines.yml", "Azure Pipelines"}, {"bitbucket-pipelines.yml", "Bitbucket Pipelines"},
		{".buildkite", "Buildkite"}, {".woodpecker.yml", "Woodpecker"}, {".drone.yml", "Drone"}, {".forgejo/workflows", "Forgejo Actions"}, {".gitea/workflows", "Gitea Actions"},
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(ci.file))); err == nil {
			found = append(found, ci.name)
		}
	}
	return found
}

// CI systems with special output of a gate.
const (
	GitHub = "GitHub Actions"
	GitLab = "GitLab CI"
)

// defaultBranch returns the name of the remote's default branch in the clone at dir, e.g.
// origin/main, or "".
func defaultBranch(dir string) string {
	src, err := os.ReadFile(filepath.Join(dir, ".git", "refs", "remotes", "origin", "HEAD"))
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(src)), "ref: refs/remotes/")
	if !ok || strings.ContainsAny(name, " \t\n") {
		return ""
	}
	return name
}

// modulePath returns the module path in a go.mod, or "".
func modulePath(src []byte) string {
	for line := range strings.Lines(string(src)) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		if len(f) != 2 || f[0] != "module" {
			continue
		}
		if p, err := strconv.Unquote(f[1]); err == nil {
			return p
		}
		return f[1]
	}
	return ""
}

// isStudy reports whether a YAML file is a study of tare: it begins with study:, after
// comments.
func isStudy(src []byte) bool {
	for line := range bytes.Lines(src) {
		line = bytes.TrimRight(line, "\r\n \t")
		if len(line) == 0 || line[0] == '#' || string(line) == "---" {
			continue
		}
		return bytes.HasPrefix(line, []byte("study:"))
	}
	return false
}

// isOpenAPI reports whether a file is an OpenAPI document, by its name or text.
func isOpenAPI(name string, src []byte) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "openapi.") || strings.HasPrefix(name, "swagger.") || openapi.IsDocument(src, false)
}

// mayServe reports whether a file may be a server's, by common names.
func mayServe(rel string) bool {
	return filepath.Base(rel) == "main.go" || strings.HasPrefix(rel, "cmd/") || strings.Contains(rel, "/cmd/")
}

// isServer reports whether a Go file belongs to a command that listens.
func isServer(src []byte) bool {
	if !bytes.Contains(src, []byte("ListenAndServe(")) && !bytes.Contains(src, []byte("net.Listen(")) {
		return false
	}
	return bytes.HasPrefix(src, []byte("package main\n")) || bytes.Contains(src, []byte("\npackage main\n"))
}
