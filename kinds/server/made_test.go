package server

import (
	"maps"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// served are the apps of the tests' kinds. They import this package, so that
// package server_test hands them over; see RunTests.
var served map[string]App

// New is the kind with all apps.
func New() *Kind { return Of(Name, slices.Collect(maps.Values(served))...) }

func tinyWorkload(op string, pool int) tare.Workload {
	return tare.Workload{ID: "tiny/" + op, Fixture: "tiny", Op: op, Pool: pool, Traffic: &tare.Traffic{Connections: 5}}
}

func ingestWorkload(op string, n, pool int) tare.Workload {
	return tare.Workload{ID: "ingest/" + op, Fixture: "ingest", Op: op, N: n, Pool: pool, Traffic: &tare.Traffic{Connections: 2}}
}

func homelabWorkload(op string, n, pool int) tare.Workload {
	return tare.Workload{ID: "homelab/" + op, Fixture: "homelab", Op: op, N: n, Pool: pool, Traffic: &tare.Traffic{Connections: 2}}
}

func inputOf(t *testing.T, k *Kind, w tare.Workload) wire.Workload {
	t.Helper()
	in, err := k.Input(w, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// madeFor is a workload's pool, what each request of it should be answered, and
// how it is told to contenders.
func madeFor(t *testing.T, k *Kind, w tare.Workload) ([]Request, []Response, wire.Workload) {
	t.Helper()
	in := inputOf(t, k, w)
	list, err := k.poolOf(in)
	if err != nil {
		t.Fatal(err)
	}
	s, err := specOf(in)
	if err != nil {
		t.Fatal(err)
	}
	refs, err := k.referencesOf(in, s)
	if err != nil || len(refs) != len(list) {
		t.Fatalf("%d references of %d requests, %v", len(refs), len(list), err)
	}
	return list, refs, in
}

func requestsOf(probes []Probe) (list []Request) {
	for _, p := range probes {
		list = append(list, p.Request)
	}
	return list
}

// answersOf are what an app's reference says to list.
func answersOf(t *testing.T, app string, list ...Request) []Response {
	t.Helper()
	answers, err := served[app].Answers(wire.Workload{}, list)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}
