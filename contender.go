package tare

import "strings"

// Ids of the two contenders that join every study by themselves.
const (
	ControlID = "control" // the baseline a second time (an A/A test)
	NullID    = "null"    // does nothing, to show the overhead of the measurement
)

// Role is the purpose of a contender in a study.
type Role string

// Roles. Only contenders with RoleContender and RoleBaseline are ranked.
const (
	RoleContender Role = "contender"
	RoleBaseline  Role = "baseline"
	RoleControl   Role = "control"
	RoleNull      Role = "null"
	RoleApart     Role = "apart" // does another job: compared with the baseline, but only its status is checked
	RoleTrap      Role = "trap"  // reproduces a published mistake; never compared
)

// Launch is the way a contender is started.
type Launch string

const (
	LaunchProgram Launch = "program" // a program that tare builds, which speaks the contender protocol
	LaunchCommand Launch = "command" // a command line of the user
	LaunchURL     Launch = "url"     // a server that tare did not start
	LaunchGobench Launch = "gobench" // test binaries of a module, which tare builds
)

// Contender is one implementation under test as it was built.
type Contender struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Role    Role   `json:"role"`
	Name    string `json:"name"`              // e.g. github.com/json-iterator/go
	Version string `json:"version,omitempty"` // of Name, from the built binary
	Variant string `json:"variant,omitempty"`

	Start

	Set map[string]string `json:"set,omitempty"` // how it is configured
	Why string            `json:"why,omitempty"` // one line: a description, or the mistake of a trap

	Build
	Declared

	Adoption Adoption `json:"adoption,omitzero"`
	Error    string   `json:"error,omitempty"` // one line: why it was not built; "" if it was
}

// Start describes how a contender is started, and where it delivers items, e.g. log lines.
// LaunchURL only has URL, and only LaunchCommand has the fields except URL.
type Start struct {
	Launch   Launch            `json:"launch,omitempty"`   // "" means program
	Command  []string          `json:"command,omitempty"`  // command line
	URL      string            `json:"url,omitempty"`      // address of the server
	Path     string            `json:"path,omitempty"`     // prefix of the path of every request, e.g. /ingest
	Files    map[string]string `json:"files,omitempty"`    // contents by file name in $DIR
	Delivers string            `json:"delivers,omitempty"` // destination of its items; see Entry.Delivers
}

// Build describes the sources of a contender. It is empty if tare built nothing.
type Build struct {
	Modules     []Module `json:"modules,omitempty"`
	Go          string   `json:"go,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	BinaryBytes int64    `json:"binary_bytes,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // of the binary
}

// Declared contains what the author of a contender, or its study, declares about it.
type Declared struct {
	Layers    []string `json:"layers,omitempty"`    // middleware
	Protocols []string `json:"protocols,omitempty"` // of an rpc contender, the usual one first
	Expect    Expect   `json:"expect,omitzero"`
	Identity  Identity `json:"identity"`
}

const notInstalled = "not installed: "

// NotInstalled returns the Error of a contender that requires programs which are not installed.
func NotInstalled(programs []string) string { return notInstalled + strings.Join(programs, ", ") }

// Absent reports whether the contender was skipped because programs are not installed.
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
	ModulesRequired  int      `json:"modules_required,omitempty"`   // third-party modules in its go.mod, indirect ones too
	Licences         []string `json:"licences,omitempty"`           // SPDX identifiers of these modules, sorted; "unknown" if one is missing or not recognised
	Released         string   `json:"released,omitempty"`           // release date of Version, YYYY-MM-DD; "" if unknown
	Unmaintained     string   `json:"unmaintained,omitempty"`       // one line: why it counts as unmaintained; "" if it does not
	ColdBuildSeconds float64  `json:"cold_build_seconds,omitempty"` // duration of a go build that compiled every third-party package
	IdleRSSBytes     int64    `json:"idle_rss_bytes,omitempty"`     // resident memory before the first request
	StartSeconds     float64  `json:"start_seconds,omitempty"`      // from start to the first answer, median of some starts
}
