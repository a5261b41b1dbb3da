package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

const usersProto = `syntax = "proto3";
package users.v1;
import "google/api/annotations.proto";
import "google/protobuf/timestamp.proto";
service Users {
  rpc Get(GetUser) returns (User) { option (google.api.http) = {get: "/v1/users/{id}"}; }
  rpc Put(User) returns (User) { option (google.api.http) = {put: "/v1/users/{id}" body: "*"}; }
  rpc Watch(GetUser) returns (stream User);
}
message GetUser { int64 id = 1; }
message User { int64 id = 1; string name = 2; repeated string roles = 3; google.protobuf.Timestamp created = 4; }
`

// TestOwnService has the real program generate, build and measure servers of a
// service, in a directory in which nothing else is left.
func TestOwnService(t *testing.T) {
	if testing.Short() {
		t.Skip("builds servers")
	}
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "users.proto"), []byte(usersProto), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"rpc", "users.proto", "--rounds", "1", "--json", "--quiet", "--no-lock", "--workload", "all*"}
	want := []string{"grpc", "connect", "connect-json", "connect-grpc", "gateway-dial", "gateway-inprocess"}
	if os.Getenv("TARE_SOAK") != "1" {
		args = append(args, "--only", "connect-json,gateway-inprocess")
		want = []string{"grpc", "connect-json", "gateway-inprocess"}
	}
	stdout, stderr, code := b.in(t, dir, args...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	published(t, stdout)
	if !strings.Contains(stderr, "method users.v1.Users/Watch: its server streams; unary methods are measured; left out") {
		t.Error(stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	for _, id := range want {
		for _, work := range []string{"all", "all/c1"} {
			for _, metric := range []string{"cpu", "time"} {
				if !slices.ContainsFunc(r.Values, func(v tare.Value) bool {
					return v.Workload == work && v.Contender == id && v.Metric == metric && v.Value > 0
				}) {
					t.Errorf("no %s of %s on %s", metric, id, work)
				}
			}
		}
	}
	for _, f := range r.Findings { // what a busy machine does to one round says nothing of the servers
		if slices.Contains([]string{"build", "trial", "identity", "wrong-answer", "error-in-loop", "negative-probe", "body-consumed", "delivered"}, f.Check) && slices.Contains(want, f.Contender) {
			t.Errorf("%+v", f)
		}
	}
	for _, id := range want {
		for _, c := range r.Conformance {
			if c.Contender == id && (c.Wrong > 0 || c.Cases == 0) {
				t.Errorf("%+v", c)
			}
		}
		if !slices.ContainsFunc(r.Conformance, func(c tare.Conformance) bool { return c.Contender == id && c.Probe && c.Cases == 2 }) {
			t.Errorf("the requests that reached %s were not verified", id)
		}
	}
	if !slices.ContainsFunc(r.NotWeighed, func(n tare.NotWeighed) bool { return n.What == "method users.v1.Users/Watch" }) {
		t.Errorf("%+v", r.NotWeighed)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("beside the file there is %v, %v", left, err)
	}
	b.nothingLeft(t, "after the service")
}
