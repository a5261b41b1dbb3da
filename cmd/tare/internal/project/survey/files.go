package survey

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
)

func findCI(dir string) []string {
	found := []string{}
	for _, ci := range []struct{ file, name string }{
		{".github/workflows", GitHub},
		{".gitlab-ci.yml", GitLab},
		{".circleci/config.yml", "CircleCI"},
		{"Jenkinsfile", "Jenkins"},
		{".travis.yml", "Travis CI"},
		{"azure-pipelines.yml", "Azure Pipelines"},
		{"bitbucket-pipelines.yml", "Bitbucket Pipelines"},
		{".buildkite", "Buildkite"},
		{".woodpecker.yml", "Woodpecker"},
		{".drone.yml", "Drone"},
		{".forgejo/workflows", "Forgejo Actions"},
		{".gitea/workflows", "Gitea Actions"},
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(ci.file))); err == nil {
			found = append(found, ci.name)
		}
	}
	return found
}

// Names of the CI systems for which a gate, tare's check of a change, has special output.
const (
	GitHub = "GitHub Actions"
	GitLab = "GitLab CI"
)

// defaultBranch returns the default branch of the remote, e.g. origin/main.
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

// ModulePath returns the module path in the text of a go.mod, or "".
func ModulePath(src []byte) string {
	for line := range strings.Lines(string(src)) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != "module" {
			continue
		}
		if unquoted, err := strconv.Unquote(fields[1]); err == nil {
			return unquoted
		}
		return fields[1]
	}
	return ""
}

// isStudy reports whether a YAML file describes a measurement of tare: it begins with study:.
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

func isOpenAPI(name string, src []byte) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "openapi.") || strings.HasPrefix(name, "swagger.") || openapi.IsDocument(src, false)
}

// mayServe reports whether a file may belong to a server, by its path.
func mayServe(rel string) bool {
	return filepath.Base(rel) == "main.go" || strings.HasPrefix(rel, "cmd/") || strings.Contains(rel, "/cmd/")
}

// isServer reports whether a main package listens on a port.
func isServer(src []byte) bool {
	if !bytes.Contains(src, []byte("ListenAndServe(")) && !bytes.Contains(src, []byte("net.Listen(")) {
		return false
	}
	return bytes.HasPrefix(src, []byte("package main\n")) || bytes.Contains(src, []byte("\npackage main\n"))
}
