package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// canary is a file that hostile inputs make if anything of them is run, and a secret
// beside them that they try to have sent or printed.
type canary struct {
	bench
	dir     string // of the inputs, and the working directory
	touched string
}

const canarySecret = "CANARY-secret"

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{bench: newBench(t), dir: t.TempDir()}
	c.touched = filepath.Join(t.TempDir(), "touched")
	write(t, c.dir, "secret", canarySecret)
	return c
}

// touch is a shell command that makes the canary.
func (c *canary) touch() string { return "touch " + c.touched }

// read runs tare on hostile inputs. Whatever it says of them, nothing of them may run,
// the secret may not be printed, and a terminal may get no command.
func (c *canary) read(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	cmd := c.command(args...)
	cmd.Dir = c.dir
	both, err := cmd.CombinedOutput()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	if _, err := os.Lstat(c.touched); err == nil {
		t.Errorf("tare %s ran what it was given to read", strings.Join(args, " "))
		_ = os.Remove(c.touched)
	}
	if text := string(both); strings.ContainsAny(text, "\x1b\a") || strings.Contains(text, canarySecret) {
		t.Errorf("tare %s prints %q", strings.Join(args, " "), text)
	}
	return string(both), cmd.ProcessState.ExitCode()
}

// result is a document that would have everything run, and control the terminal.
func (c *canary) result(study string) string {
	const esc = `\u001b]52;c;YQ==\u0007\u001b[2J`
	commands := fmt.Sprintf(`study: forged\nquestion: Who?\nkinds: [server]\nbaseline: evil\ncontenders:\n  - {id: evil, command: [sh, -c, \"%s\"]}\nworkloads: [{id: w, fixture: tiny, op: get-7, connections: 1}]\nmetrics: [cpu]\n`, c.touch())
	return `{"schema": "tare.result/1", "study": "` + study + `", "question": "q` + esc + `", "kind": "codec", "started": "2030-01-01T00:00:00Z", "seed": "3` + esc + `", "budget": "$(` + c.touch() + `)", "rounds_done": 8, "stopped": "rounds` + esc + `", "metrics": ["time"],` +
		`"env": ["LD_PRELOAD=` + c.touched + `.so", "GOFLAGS=-toolexec=` + c.touched + `"],` +
		`"contenders": [{"id": "a", "role": "baseline", "version": "v1 (1a2b3c4d5)` + esc + `"}, {"id": "b` + esc + `", "role": "contender", "error": "` + esc + `"}],` +
		`"workloads": [{"id": "w` + esc + `", "file": "../secret"}],` +
		`"findings": [{"check": "answers", "severity": "void", "contender": "a", "says": "` + esc + `"}],` +
		`"asked": {"budget": "quick", "rounds": 2, "seal": "00", "study_source": "` + commands + `", "command": ["bench", "--env", "GOFLAGS=-toolexec=` + c.touched + `"], "work_dir": "` + c.dir + `"}}`
}

func TestCanaryOfResults(t *testing.T) {
	c := newCanary(t)
	write(t, c.dir, "result.json", c.result("forged"))
	write(t, c.dir, "gate.json", `{"schema": "tare.gate/1", "shard": "1/2", "base": "$(`+c.touch()+`)\u001b[2J", "head": "x", "results": [`+c.result("forged")+`], "rows": [], "left": [], "remarks": []}`)
	for _, format := range []string{"text", "brief", "md", "csv", "html", "json", "benchfmt", "research"} {
		c.read(t, "report", "result.json", "--format", format)
	}
	if out, code := c.read(t, "rerun", "result.json"); code != 2 {
		t.Errorf("rerun: exit code %d, %s", code, out)
	}
	c.read(t, "gate", "merge", "gate.json")
	if out, code := c.read(t, "history", "import", "result.json"); code != 0 {
		t.Errorf("import: exit code %d, %s", code, out)
	}
	for _, args := range [][]string{{"history"}, {"history", "forged"}, {"history", "forged", "--runs"}, {"history", "forged", "--format", "csv"}, {"history", "check"}, {"history", "--page", "page.html"}, {"history", "--format", "openmetrics"}, {"history", "export", "out.ndjson"}} {
		c.read(t, args...)
	}
	if out, code := c.read(t, "rerun", "forged"); code != 2 {
		t.Errorf("rerun of an import: exit code %d, %s", code, out)
	}
}

// A branch of results brings hooks, attributes, links, submodules and names that lead
// elsewhere. Only results are taken from it, into the data directory.
func TestCanaryOfHistoryBranch(t *testing.T) {
	c := newCanary(t)
	upstream := t.TempDir()
	git(t, upstream, "init", "--quiet", "--initial-branch=tare-history")
	for name, text := range map[string]string{
		".gitattributes":            "* filter=evil diff=evil\n",
		".gitmodules":               "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c '" + c.touch() + "'\n\tupdate = !" + c.touch() + "\n",
		".gitconfig":                "[core]\n\tfsmonitor = " + c.touch() + "\n\thooksPath = hooks\n[filter \"evil\"]\n\tsmudge = " + c.touch() + "\n",
		"hooks/post-checkout":       "#!/bin/sh\n" + c.touch() + "\n",
		"forged/a.json":             c.result("forged"),
		"forged/$(touch x).json":    c.result("../../../" + filepath.Base(c.dir) + "/escaped"),
		"forged/--upload-pack.json": c.result("forged;" + c.touch()),
	} {
		write(t, upstream, name, text)
	}
	if err := os.Chmod(filepath.Join(upstream, "hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(c.dir, "secret"), filepath.Join(upstream, "forged", "link.json")); err != nil {
		t.Fatal(err)
	}
	git(t, upstream, "add", "--all")
	git(t, upstream, "commit", "--quiet", "--message=x")
	git(t, c.dir, "init", "--quiet", "--initial-branch=main")
	git(t, c.dir, "remote", "add", "origin", upstream)
	before := filesBelow(t, c.dir)
	c.read(t, "history", "pull") // the link is no result, and is refused
	if err := os.Remove(filepath.Join(upstream, "forged", "link.json")); err != nil {
		t.Fatal(err)
	}
	git(t, upstream, "add", "--all")
	git(t, upstream, "commit", "--quiet", "--message=y")
	if out, code := c.read(t, "history", "pull"); code != 0 {
		t.Errorf("pull: exit code %d, %s", code, out)
	}
	c.read(t, "history")
	if after := filesBelow(t, c.dir); after != before {
		t.Errorf("files were made outside of the data directory: %s, before %s", after, before)
	}
}

// filesBelow lists the files below a directory, but for git's.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if e != nil && e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// Recorded and described traffic is sent to the named server only, and holds nothing
// that stands in other files.
func TestCanaryOfTraffic(t *testing.T) {
	c := newCanary(t)
	var mu sync.Mutex
	var got strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintf(&got, "%s %s %v %s\n", r.Method, r.URL, r.Header, body)
		mu.Unlock()
		w.Header().Set("Server", "\x1b[2J") // net/http makes it harmless; the body is not
		_, _ = io.WriteString(w, "\x1b]52;c;YQ==\a$("+c.touch()+")")
	}))
	defer server.Close()
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	go func() {
		for {
			conn, err := elsewhere.Accept()
			if err != nil {
				return
			}
			conn.Close()
			mu.Lock()
			got.WriteString(canarySecret + " elsewhere\n")
			mu.Unlock()
		}
	}()
	other := "http://" + elsewhere.Addr().String()
	write(t, c.dir, "session.har", `{"log":{"entries":[{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"POST","url":"`+other+`/h?access_token=`+canarySecret+`","headers":[{"name":"Authorization","value":"`+canarySecret+`"},{"name":"X-File","value":"@secret"}],"postData":{"mimeType":"application/json","text":"{\"password\":\"`+canarySecret+`\",\"f\":\"@secret\"}"}}}]}}`)
	write(t, c.dir, "access.log", `h - - [10/Oct/2000:13:55:36 -0700] "GET `+other+`/$(`+strings.ReplaceAll(c.touch(), " ", "${IFS}")+`)?token=`+canarySecret+` HTTP/1.1" 200 1`+"\n"+"h - - [10/Oct/2000:13:55:37 -0700] \"GET /\x1b[2J HTTP/1.1\" 200 1\n")
	write(t, c.dir, "part.yaml", "x: {example: "+canarySecret+"}\n")
	write(t, c.dir, "api.yaml", `openapi: 3.0.0
servers: [{url: "`+other+`"}]
paths:
  /a: {get: {parameters: [{name: q, in: query, schema: {$ref: "part.yaml#/x"}}, {name: r, in: query, examples: {e: {externalValue: "file://`+c.dir+`/secret"}}}, {name: ok, in: query, example: "@secret"}]}}
  /b: {$ref: "`+other+`/part.yaml"}
  /c: {post: {requestBody: {content: {text/plain: {example: "@secret"}}}}}
`)
	for _, file := range []string{"session.har", "access.log", "api.yaml"} {
		mu.Lock()
		got.Reset()
		mu.Unlock()
		out, code := c.read(t, "load", "--feed", file, "-n", "6", "-c", "1", server.URL)
		mu.Lock()
		sent := got.String()
		mu.Unlock()
		if code != 0 || sent == "" || strings.Contains(sent, canarySecret) {
			t.Errorf("%s: exit code %d, the server got\n%s\n%s", file, code, sent, out)
		}
	}
}

// A study is run when it is run, and not when it is listed. A .proto names messages; it
// reads no file that is not one.
func TestCanaryOfStudiesAndProto(t *testing.T) {
	c := newCanary(t)
	write(t, c.dir, "study.yaml", "study: evil\nquestion: \"q\\e[2J\"\nkinds: [server]\nbaseline: evil\ncontenders:\n  - {id: evil, command: [sh, -c, \""+c.touch()+"\"]}\nworkloads: [{id: w, fixture: tiny, op: get-7, connections: 1}]\nmetrics: [cpu]\n")
	write(t, c.dir, "evil.proto", "syntax = \"proto3\";\npackage e;\nimport \"secret\";\nimport \"../secret\";\nimport \"/proc/self/environ\";\noption go_package = \"e\\\";import _ \\\"os/exec\";\nmessage M {}\nservice S { rpc Get(M) returns (M); }\n")
	c.read(t, "run", "--list", "study.yaml")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if out, code := c.read(t, "load", "--proto", "evil.proto", "-n", "1", "grpc://"+server.Listener.Addr().String()+"/e.S/Get"); code != 2 {
		t.Errorf("load --proto: exit code %d, %s", code, out)
	}
	if out, code := c.read(t, "rpc", "evil.proto"); code != 2 {
		t.Errorf("rpc: exit code %d, %s", code, out)
	}
}
