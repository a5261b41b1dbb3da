package rpc

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/kinds/server"
)

// Baseline is the transport that the others are compared with.
const Baseline = "grpc"

// Budgets of the study: what does not fit in them is left out.
const (
	Quick = 60 * time.Second
	Full  = 6 * time.Minute
)

// Workloads besides those of single methods.
const (
	allID = "all"    // all methods in turn
	oneID = "all/c1" // the same by one caller
)

// mostAlone is how many methods have a workload of their own.
const mostAlone = 8

// connections are those of most workloads.
const connections = 10

// transport is one way to offer the service.
type transport struct {
	id       string // of the contender
	module   string // that serves it
	protocol string // that it is asked in
}

func transports() []transport {
	return []transport{
		{"grpc", "grpc", overGRPC},
		{"connect", "connect", overConnect},
		{"connect-json", "connect", overConnectJSON},
		{"connect-grpc", "connect", overGRPC},
		{"gateway-dial", "gateway", overHTTP},
		{"gateway-inprocess", "gateway", overHTTP},
	}
}

// Transports are the ids of all contenders.
func Transports() (ids []string) {
	for _, t := range transports() {
		ids = append(ids, t.id)
	}
	return ids
}

// Study compares the transports that only chooses. Their modules are in dir.
func (d *Document) Study(dir string, only func(id string) bool) tare.Study {
	s := tare.Study{
		ID: d.StudyID(), Question: d.question(), Kind: server.Name, Baseline: Baseline,
		Metrics: []string{"cpu", "time", "bytes", "allocs"},
		Budget:  tare.Budget{Quick: Quick, Full: Full}, Borrowed: true,
	}
	for _, t := range transports() {
		if t.id == Baseline || only(t.id) {
			s.Contenders = append(s.Contenders, tare.Entry{ID: t.id, Program: filepath.Join(dir, t.module), Set: map[string]string{setProtocol: t.protocol}})
		}
	}
	ask := func(id, op string, callers int) {
		s.Workloads = append(s.Workloads, tare.Workload{ID: id, Fixture: AppName, Op: op, Traffic: &tare.Traffic{Connections: callers}})
	}
	ask(allID, allID, connections)
	ask(oneID, allID, 1)
	s.Budget.QuickWorkloads = []string{allID, oneID}
	for i, m := range d.Methods {
		if len(d.Methods) > 1 && i < mostAlone {
			ask(m.ID, m.ID, connections)
		}
	}
	return s
}

// Alone says which methods have no workload of their own.
func (d *Document) Alone() []tare.NotWeighed {
	if len(d.Methods) <= mostAlone {
		return nil
	}
	return []tare.NotWeighed{{
		What: fmt.Sprintf("%d methods each by itself", len(d.Methods)-mostAlone),
		Why:  fmt.Sprintf("the first %d are, and the workload %s has all; --method chooses", mostAlone, allID),
	}}
}

var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// StudyID is what the study is called, so that results of the same file are kept
// together.
func (d *Document) StudyID() string {
	name := strings.TrimSuffix(d.title(), filepath.Ext(d.title()))
	return "rpc-" + strings.Trim(odd.ReplaceAllString(name, "-"), "-.")
}

func (d *Document) question() string {
	return fmt.Sprintf("What does a call of %s in %s cost a server behind gRPC, Connect and gRPC-Gateway?", d.methods(), d.title())
}

// LibrariesOnly leaves out of a result how many modules the go.mod of a generated
// server requires: it is that of a contender of the catalog, which has others too.
func LibrariesOnly(r *tare.Result) {
	for i := range r.Contenders {
		if r.Contenders[i].Role != tare.RoleNull {
			r.Contenders[i].Adoption.ModulesRequired = 0
		}
	}
}
