package tare

import "strings"

// Ids of the two contenders that join every study by themselves.
const (
	ControlID = "control" // the baseline entered a second time (A/A)
	NullID    = "null"    // the harness doing nothing
)

// Role is the purpose of a contender in a study.
type Role string

// Roles. Only contenders and the baseline are ranked; those of role apart are still compared with
// the baseline.
const (
	RoleContender Role = "contender"
	RoleBaseline  Role = "baseline"
	RoleControl   Role = "control"
	RoleNull      Role = "null"
	RoleApart     Role = "apart" // its answers are compared with their status alone: it does another job, or part of one
	RoleTrap      Role = "trap"  // reproduces a published mistake; labelled, never ranked or compared
)

// Launch is the way a contender is started.
type Launch string

// Launches.
const (
	LaunchProgram Launch = "program" // built by tare, speaks the contender protocol
	LaunchCommand Launch = "command" // the user's own command line: a server, or a program that speaks the contender protocol
	LaunchURL     Launch = "url"     // a server that tare did not start
	LaunchGobench Launch = "gobench" // test binaries of a module, built by tare
)

// Contender is one implementation under test as it was built, with its own account and that of its
// binary.
type Contender struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Role    Role   `json:"role"`
	Name    string `json:"name"`              // e.g. github.com/json-iterator/go
	Version string `json:"version,omitempty"` // of Name, from the built binary
	Variant string `json:"variant,omitempty"`

	Start

	Set map[string]string `json:"set,omitempty"` // how it is configured
	Why string            `json:"why,omitempty"` // one line: what it is, or for a trap what it reproduces

	Build
	Declared

	Adoption Adoption `json:"adoption,omitzero"`
	Error    string   `json:"error,omitempty"` // why it could not be built, or what is not installed, one line
}

// Start describes how a contender is started, and where its deliveries are found. Fields other than
// Launch are of launch command, except URL.
type Start struct {
	Launch   Launch            `json:"launch,omitempty"`   // empty means program
	Command  []string          `json:"command,omitempty"`  // the command line
	URL      string            `json:"url,omitempty"`      // of launch url
	Path     string            `json:"path,omitempty"`     // what every path begins with, e.g. /ingest
	Files    map[string]string `json:"files,omitempty"`    // texts by their file name in $DIR
	Delivers string            `json:"delivers,omitempty"` // destination of its items, an item a line: a pattern of files, or $DESTINATION
}

// Build describes the sources of a contender. It is empty if tare built nothing.
type Build struct {
	Modules     []Module `json:"modules,omitempty"`
	Go          string   `json:"go,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	BinaryBytes int64    `json:"binary_bytes,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // of the binary
}

// Declared is the account of a contender's author, or of its study.
type Declared struct {
	Layers    []string `json:"layers,omitempty"`    // middleware
	Protocols []string `json:"protocols,omitempty"` // of an rpc contender: those it serves, the usual one first
	Expect    Expect   `json:"expect,omitzero"`
	Identity  Identity `json:"identity"`
}

// notInstalled begins the error of a contender whose programs are not there.
const notInstalled = "not installed: "

// NotInstalled returns the Error of a contender that requires programs which are not installed.
func NotInstalled(programs []string) string { return notInstalled + strings.Join(programs, ", ") }

// Absent reports whether the contender was skipped because it requires programs that are not
// installed.
func (c Contender) Absent() bool { return strings.HasPrefix(c.Error, notInstalled) }

// Title returns the printed form of a contender: its id, and for a trap a dagger.
func (c Contender) Title() string {
	if c.Role == RoleTrap {
		return c.ID + "†"
	}
	return c.ID
}

// String returns name@version, or the id if nothing was built.
func (c Contender) String() string {
	switch {
	case c.Name == "":
		return c.ID
	case c.Version == "":
		return c.Name
	}
	return c.Name + "@" + c.Version
}

// Module is a Go module linked into a binary.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Replace string `json:"replace,omitempty"`
}

// Identity lists the claimed contents of a contender, and those that its binary lacks.
type Identity struct {
	ClaimedModules []string `json:"claimed_modules,omitempty"` // path or path@version
	ClaimedSymbols []string `json:"claimed_symbols,omitempty"` // function names, matched as substrings
	MissingModules []string `json:"missing_modules,omitempty"`
	MissingSymbols []string `json:"missing_symbols,omitempty"`
}

// Adoption is the cost of adopting a contender in a service, except for time. 0 means unknown.
type Adoption struct {
	ModulesLinked    int      `json:"modules_linked"`               // third-party modules in the binary
	ModulesRequired  int      `json:"modules_required,omitempty"`   // third-party modules in the go.mod it is built with, indirect ones too; 0 means none or unknown
	Licences         []string `json:"licences,omitempty"`           // of those modules, SPDX identifiers, each once, sorted; "unknown" if there is no text or it was not recognised
	Released         string   `json:"released,omitempty"`           // YYYY-MM-DD: of the version of Name that was measured; empty for std, a directory, or if the module cache does not know it
	Unmaintained     string   `json:"unmaintained,omitempty"`       // one line: why it counts as unmaintained; empty if it does not
	ColdBuildSeconds float64  `json:"cold_build_seconds,omitempty"` // of a go build that compiled every third-party package, with std and the SDK compiled before
	IdleRSSBytes     int64    `json:"idle_rss_bytes,omitempty"`     // resident memory before the first request
	StartSeconds     float64  `json:"start_seconds,omitempty"`      // from starting the process to its first answer, median of some starts
}
