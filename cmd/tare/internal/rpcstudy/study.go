package rpcstudy

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/kinds/server"
)

// Baseline is the transport that the others are compared with.
const Baseline = "grpc"

// Budgets of the study, which skips workloads that do not fit.
const (
	Quick = 60 * time.Second
	Full  = 6 * time.Minute
)

// Ids of the workloads that call all methods.
const (
	allID = "all"    // calls all methods in turn, on several connections
	oneID = "all/c1" // calls all methods in turn, on one connection
)

// maxSingle is the largest number of methods with their own workload.
const maxSingle = 8

const connections = 10

type transport struct {
	id       string // id of the contender
	module   string // name of its generated program
	protocol string // protocol of its requests
}

// allTransports returns the transports that are compared, the baseline first.
func allTransports() []transport {
	return []transport{
		{"grpc", "grpc", overGRPC},
		{"connect", "connect", overConnect},
		{"connect-json", "connect", overConnectJSON},
		{"connect-grpc", "connect", overGRPC},
		{"gateway-dial", "gateway", overHTTP},
		{"gateway-inprocess", "gateway", overHTTP},
	}
}

// Transports returns the ids of all contenders.
func Transports() (ids []string) {
	for _, t := range allTransports() {
		ids = append(ids, t.id)
	}
	return ids
}

// Study returns the study of the baseline and of the selected transports. Their generated modules are
// in dir.
func (d *Document) Study(dir string, only func(id string) bool) tare.Study {
	s := tare.Study{
		ID: d.StudyID(), Question: d.studyQuestion(), Kind: server.Name, Baseline: Baseline,
		Metrics: []string{"cpu", "time", "bytes", "allocs"},
		Budget:  tare.Budget{Quick: Quick, Full: Full}, Borrowed: true,
	}
	for _, t := range allTransports() {
		if t.id == Baseline || only(t.id) {
			entry := tare.Entry{ID: t.id, Program: filepath.Join(dir, t.module), Set: map[string]string{setProtocol: t.protocol}}
			s.Contenders = append(s.Contenders, entry)
		}
	}
	addWorkload := func(id, op string, connections int) {
		s.Workloads = append(s.Workloads, tare.Workload{ID: id, Fixture: AppName, Op: op, Traffic: &tare.Traffic{Connections: connections}})
	}
	addWorkload(allID, allID, connections)
	addWorkload(oneID, allID, 1)
	s.Budget.QuickWorkloads = []string{allID, oneID}
	for i, m := range d.Methods {
		if len(d.Methods) > 1 && i < maxSingle {
			addWorkload(m.ID, m.ID, connections)
		}
	}
	return s
}

// Alone returns an entry about methods without a workload of their own, or nil.
func (d *Document) Alone() []tare.NotWeighed {
	if len(d.Methods) <= maxSingle {
		return nil
	}
	return []tare.NotWeighed{{
		What: fmt.Sprintf("%d methods each by itself", len(d.Methods)-maxSingle),
		Why:  fmt.Sprintf("the first %d are, and the workload %s has all; --method chooses", maxSingle, allID),
	}}
}

var unsafeRE = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// StudyID returns the id of the study: rpc-users for users.proto.
func (d *Document) StudyID() string {
	name := strings.TrimSuffix(d.fileTitle(), filepath.Ext(d.fileTitle()))
	return "rpc-" + strings.Trim(unsafeRE.ReplaceAllString(name, "-"), "-.")
}

func (d *Document) studyQuestion() string {
	return fmt.Sprintf("What does a call of %s in %s cost a server behind gRPC, Connect and gRPC-Gateway?", d.countMethods(), d.fileTitle())
}

// LibrariesOnly removes the number of required modules of the generated servers from a result. Their
// go.mod is that of a catalog contender, which requires other modules as well.
func LibrariesOnly(r *tare.Result) {
	for i := range r.Contenders {
		if r.Contenders[i].Role != tare.RoleNull {
			r.Contenders[i].Adoption.ModulesRequired = 0
		}
	}
}
