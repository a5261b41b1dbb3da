package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a workflow runs of somebody else is named by its commit: a tag can be moved.
func TestActionsArePinned(t *testing.T) {
	files := []string{"../../action.yml"}
	for _, pattern := range []string{"../../.github/workflows/*", "../../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+)@(\S+)(.*)$`)
	commit := regexp.MustCompile(`^[0-9a-f]{40}$`)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			if n++; m[1] != "tarebench/tare" && (!commit.MatchString(m[2]) || !strings.Contains(m[3], "# v")) {
				t.Errorf("%s: %s@%s: not a commit with its version behind it", file, m[1], m[2])
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d actions", n)
	}
}

// Images that tare's own is built from are named by their digest. The NATS server of
// the manifests is the version that tare links, so that govulncheck speaks for both.
func TestImagesArePinned(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	froms := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read("../../deploy/Dockerfile"), -1)
	for _, m := range froms {
		if !regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(m[1]) {
			t.Errorf("deploy/Dockerfile: %s has no digest", m[1])
		}
	}
	linked := regexp.MustCompile(`nats-server/v2 v(\S+)`).FindStringSubmatch(read("../../cmd/tare/go.mod"))
	deployed := regexp.MustCompile(`image: nats:([0-9.]+)-alpine@sha256:[0-9a-f]{64}\n`).FindStringSubmatch(read("../../deploy/kubernetes/nats.yaml"))
	if len(froms) < 2 || linked == nil || deployed == nil || linked[1] != deployed[1] {
		t.Errorf("images %q; nats-server %q is linked, %q deployed", froms, linked, deployed)
	}
}

// Recipes name tare by a commit, or by the tag of a release.
func TestRecipesArePinned(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^([0-9a-f]{40}|cmd/tare/v[0-9]+\.[0-9]+\.[0-9]+)$`)
	recipes := 0
	for _, file := range append(files, "../../README.md", "../../deploy/ci/README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("tarebench/tare@([^\\s`]*)").FindAllStringSubmatch(string(text), -1) {
			if recipes++; !pinned.MatchString(m[1]) {
				t.Errorf("%s: tarebench/tare@%s is not a commit", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^ +- (?:uses: (\S+)|go install \S+@(\S+))`).FindAllStringSubmatch(string(text), -1) {
			at := m[2]
			if m[1] != "" {
				_, at, _ = strings.Cut(m[1], "@")
			}
			if !regexp.MustCompile(`^[0-9a-f]{12,40}$`).MatchString(at) {
				t.Errorf("%s: %s is not a commit", file, m[0])
			}
		}
	}
	if recipes < 4 {
		t.Errorf("only %d recipes", recipes)
	}
}

// Agents and their server speak TLS only, and each agent has a credential of its own.
func TestManifestsShareNoSecret(t *testing.T) {
	agents, err := os.ReadFile("../../deploy/kubernetes/agents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server, err := os.ReadFile("../../deploy/kubernetes/nats.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--nats=tls://", "subPathExpr: agent-$(AGENT).creds"} {
		if !strings.Contains(string(agents), want) {
			t.Errorf("agents.yaml: no %s", want)
		}
	}
	if strings.Contains(string(agents), "nats://") || strings.Contains(string(agents), "mountPath: /etc/tare,") || !strings.Contains(string(server), `min_version: "1.3"`) {
		t.Error("plain text, or all credentials are in each agent")
	}
}

// A release is signed, says where it was built, and its archives hold no time of the
// machine that made them.
func TestReleasesAreSigned(t *testing.T) {
	for file, wants := range map[string][]string{
		"../../.goreleaser.yaml": {
			"cmd: cosign", "artifacts: checksum", "--bundle=${signature}", "mod_timestamp: '{{ .CommitTimestamp }}'",
			"builds_info:", "mtime: '{{ .CommitDate }}'", "flags: [-trimpath",
		},
		"../../.github/workflows/release.yml": {
			"id-token: write", "attestations: write", "actions/attest-build-provenance@", "subject-checksums: out/dist/checksums.txt", "persist-credentials: false",
		},
		"../../SECURITY.md": {"cosign verify-blob", "gh attestation verify"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q", file, want)
			}
		}
	}
}
