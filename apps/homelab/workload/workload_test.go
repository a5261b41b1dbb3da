package workload

import (
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

func workload(op string, n, pool int) tare.Workload {
	return tare.Workload{ID: "homelab/" + op, Fixture: homelab.Name, Op: op, N: n, Pool: pool, Traffic: &tare.Traffic{Connections: 2}}
}

func kind() *server.Kind { return server.Of(server.Name, App()) }

// madeFor is a workload's pool, what each request of it should be answered, and
// how it is told to contenders.
func madeFor(t *testing.T, k *server.Kind, w tare.Workload) ([]server.Request, []server.Response, wire.Workload) {
	t.Helper()
	in, err := k.Input(w, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.N = in.N
	list, err := newRequests(w)
	if err != nil || len(list) != in.Bodies {
		t.Fatalf("%d requests of %d, %v", len(list), in.Bodies, err)
	}
	refs, err := referenceResponses(in, list)
	if err != nil || len(refs) != len(list) {
		t.Fatalf("%d references of %d requests, %v", len(refs), len(list), err)
	}
	return list, refs, in
}

func requestsOf(probes []server.Probe) (list []server.Request) {
	for _, p := range probes {
		list = append(list, p.Request)
	}
	return list
}

// The mix has the shares that it is said to have, and asks for what it is said to ask for.
func TestMix(t *testing.T) {
	for _, c := range []struct {
		n, pool int
		want    map[string]int
	}{
		{0, 0, map[string]int{"devices": 450, "device": 343, "unknown": 7, "turn_on": 50, "set": 30, "read-only": 10, "malformed": 10, "services": 50, "health": 50}},
		{4, 100, map[string]int{"devices": 45, "device": 34, "unknown": 1, "turn_on": 4, "set": 4, "read-only": 1, "malformed": 1, "services": 5, "health": 5}},
		{1000, 2000, map[string]int{"devices": 900, "device": 686, "unknown": 14, "turn_on": 160, "read-only": 20, "malformed": 20, "services": 100, "health": 100}},
	} {
		for _, op := range []string{opMix, tare.OpStop} {
			list, refs, in := madeFor(t, kind(), workload(op, c.n, c.pool))
			got := map[string]int{}
			for i, q := range list {
				got[kindOf(t, q, refs[i].Status)]++
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s of %d devices: %v, want %v", op, c.n, got, c.want)
			}
			if in.Bodies != max(c.pool, 100) && c.pool > 0 {
				t.Errorf("%d requests of %d", in.Bodies, c.pool)
			}
		}
	}
}

// kindOf says what a request of the mix is, and that it is answered as such.
func kindOf(t *testing.T, q server.Request, status int) string {
	want := func(kind string, code int) string {
		if status != code {
			t.Errorf("%s %s is answered %d, want %d", q.Method, q.Path, status, code)
		}
		return kind
	}
	switch {
	case q.Path == pathDevices:
		return want("devices", 200)
	case strings.HasPrefix(q.Path, pathDevices+"/") && status == 404:
		return "unknown"
	case strings.HasPrefix(q.Path, pathDevices+"/"):
		return want("device", 200)
	case q.Path == pathServices:
		return want("services", 200)
	case q.Path == pathHealth:
		return want("health", 200)
	case q.Method != http.MethodPost:
		return q.Method + " " + q.Path
	}
	var c homelab.Command
	if err := json.Unmarshal(q.Body, &c); err != nil {
		return want("malformed", 400)
	}
	if strings.Contains(q.Path, "sensor") {
		return want("read-only", 405)
	}
	return want(c.Action, 200)
}

// Devices are asked for by Zipf's law: the first one more often than the
// second, and all of them at least now and then.
func TestPopularity(t *testing.T) {
	list, _, _ := madeFor(t, kind(), workload(opMix, 0, 10_000))
	times := map[string]int{}
	for _, q := range list {
		if id, ok := strings.CutPrefix(q.Path, pathDevices+"/"); ok && !strings.Contains(id, "nowhere") {
			times[id]++
		}
	}
	var counts []int
	for _, n := range times {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	if len(counts) != defaultDevices || math.Abs(float64(counts[0])/float64(counts[9])-math.Pow(10, popularity)) > 0.2 {
		t.Errorf("devices are asked for %v times", counts)
	}
}

// The mix leaves the house as it is: asked for twice over, in whatever order,
// everything is answered the same.
func TestMixLeavesTheHouse(t *testing.T) {
	list, refs, in := madeFor(t, kind(), workload(opMix, 0, 0))
	devices, err := serving.Devices(in.N)
	if err != nil {
		t.Fatal(err)
	}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	for turn := range 2 {
		for _, i := range order {
			q := list[i]
			if r := serveRequest(house, q); !reflect.DeepEqual(r, refs[i]) {
				t.Fatalf("turn %d: %s %s is answered %d %s, want %d %s", turn, q.Method, q.Path, r.Status, r.Body, refs[i].Status, refs[i].Body)
			}
		}
		server.Shuffle(fixture.NewRandom("another order"), order)
	}
}

// Golden sums: pools of another year can be compared with these.
func TestPoolsStay(t *testing.T) {
	for op, sum := range map[string]string{opMix: "d61b9804062e7b7f", opDevice: "ed2d666ca6832bca"} {
		_, _, in := madeFor(t, kind(), workload(op, 0, 0))
		if in.SHA256[:16] != sum {
			t.Errorf("%s is %s, was %s", op, in.SHA256[:16], sum)
		}
	}
}

func TestOps(t *testing.T) {
	for op, want := range map[string]struct{ n, requests, keys int }{
		opHealth: {0, 1, 1}, opDevices: {0, 1, 1}, opDevice: {20, 20, 20}, opMix: {0, 1000, 0}, tare.OpStop: {0, 1000, 0},
	} {
		k := kind()
		w := workload(op, want.n, 0)
		list, refs, in := madeFor(t, k, w)
		d, err := k.Describe(w, in)
		if err != nil || len(list) != want.requests || d.Keys != want.keys || d.DistinctKeys != want.keys || d.N == 0 || d.Counted() != (tare.Counts{One: "device", In: "the house"}) {
			t.Errorf("%s: %d requests, %+v, %v", op, len(list), d, err)
		}
		for _, r := range refs {
			if r.Status == 200 && len(r.Body) == 0 || r.Status != 200 && want.keys > 0 {
				t.Errorf("%s is answered %d %q", op, r.Status, r.Body)
			}
		}
	}
	for want, w := range map[string]tare.Workload{
		"a mix takes 100 to 100000":   workload(opMix, 0, 10),
		"a mix takes one of each typ": workload(opMix, 3, 0),
		"homelab can be asked to mix": workload("dance", 0, 0),
	} {
		if _, err := kind().Input(w, t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	set := map[string]string{"origins": "*"}
	if err := applySettings(wire.Workload{N: 20}, nil, set, ""); err != nil || set[serving.SetDevices] != "20" || set["origins"] != "*" {
		t.Errorf("%v, %v", set, err)
	}
	if err := applySettings(wire.Workload{N: 50}, nil, set, ""); err == nil || !strings.Contains(err.Error(), "n, which is 50") {
		t.Errorf("20 devices where the workload has 50: %v", err)
	}
	if err := applySettings(wire.Workload{Op: server.OpProbes}, nil, set, ""); err != nil || set[serving.SetDevices] != "50" {
		t.Errorf("probes: %v, %v", set, err)
	}
}

func TestProbes(t *testing.T) {
	refs, err := referenceResponses(wire.Workload{Op: server.OpProbes}, requestsOf(newProbes()))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for i, r := range refs {
		got = append(got, r.Status)
		if (r.Status == 200) != (len(r.Body) > 0) {
			t.Errorf("probe %d is answered %d %q", i, r.Status, r.Body)
		}
	}
	want := []int{404, 405, 405, 405, 405, 405, 404, 404, 404, 404, 404, 405, 400, 400, 400, 400, 400, 400, 400, 400, 413, 200, 415, 200, 200, 200, 200, 200, 200, 200, 200, 200}
	if !slices.Equal(got, want) {
		t.Errorf("probes are answered\n%v, want\n%v", got, want)
	}
}

// Whatever a server makes of the questions, the house is as it was.
func TestQuestions(t *testing.T) {
	names := map[string]bool{}
	var list []server.Request
	for _, q := range newQuestions() {
		if names[q.Name] || q.Property == "" || len(q.Property) > 25 || q.What == "" || len(q.BearsOn) == 0 {
			t.Errorf("question %+v", q)
		}
		names[q.Name] = true
		for _, op := range q.BearsOn {
			if !slices.Contains(App().Ops, op) {
				t.Errorf("%s bears on %s", q.Name, op)
			}
		}
		if strings.Contains(string(q.Body), "turn_off") || strings.Contains(string(q.Body), "toggle") {
			t.Errorf("%s changes the house", q.Name)
		}
		list = append(list, q.Request)
	}
	refs, err := referenceResponses(wire.Workload{Op: server.OpExam}, append(list, server.Get(pathDevices)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := referenceResponses(wire.Workload{}, []server.Request{server.Get(pathDevices)})
	if err != nil || !reflect.DeepEqual(plain[0], refs[len(list)]) {
		t.Errorf("the house was changed, %v", err)
	}
}
