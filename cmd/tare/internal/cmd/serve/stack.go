package serve

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/internal/build"
)

// This file finds the programs that serve an app. For example, the app users is served by the stack
// gin, which uses the framework of that name.

// stack is a program of the catalog that serves an app. A module with variants usually has one stack
// per variant.
type stack struct {
	ID   string `json:"stack"` // the module's id for its first variant, otherwise catalogID
	Trap bool   `json:"trap"`  // the contender repeats a published mistake on purpose
	Why  string `json:"why"`   // why the catalog has the contender

	leaf      build.Leaf // the contender module
	catalogID string     // id in the catalog, e.g. gin-new; the module's id if Together
	variant   string     // "" if the module has no variants, or serves all
}

func (st stack) entryID() string {
	if m := st.leaf.Manifest; m.Together {
		return m.IDs()[0]
	}
	return st.catalogID
}

// tagDB is the build tag for databases of modules that serve users.
const tagDB = "db"

// withDatabase returns the stack that serves like st and supports the database with the URL store.
// If store is no database, it returns st.
func (st stack) withDatabase(c catalog.Catalog, store string) stack {
	if kind, _, _ := strings.Cut(store, ":"); kind != "sqlite" && kind != "postgres" {
		return st
	}
	for _, leaf := range c.Leaves() {
		m := leaf.Manifest
		isSameStack := m.Kind == st.leaf.Manifest.Kind && leaf.Src() == st.leaf.Src()
		if isSameStack && slices.Contains(m.Tags, tagDB) {
			st.leaf, st.catalogID = leaf, m.VariantID(st.variant)
		}
	}
	return st
}

// stacksFor returns the stacks of a catalog that serve an app, sorted by name. It omits those with
// databases, which withDatabase finds.
func stacksFor(c catalog.Catalog, app string) []stack {
	var list []stack
	for _, leaf := range c.Leaves() {
		m := leaf.Manifest
		isServer := (m.Kind == server.Kind || m.Kind == rpc.Kind) && m.ID != tare.NullID
		if !isServer || !slices.Contains(m.Apps, app) || slices.Contains(m.Tags, tagDB) {
			continue
		}
		list = append(list, newStacks(leaf)...)
	}
	slices.SortFunc(list, func(a, b stack) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// newStacks returns the stacks of a contender module: one if its program serves all transports
// together, otherwise one for each variant.
func newStacks(leaf build.Leaf) (list []stack) {
	m := leaf.Manifest
	if m.Together {
		return []stack{{ID: m.ID, Why: m.Why, leaf: leaf, catalogID: m.ID}}
	}
	for i, id := range m.IDs() {
		st := stack{ID: id, Trap: m.Trap, Why: m.Why, leaf: leaf, catalogID: id}
		if len(m.Variants) > 0 {
			st.variant = m.Variants[i]
		}
		if isPartial := m.VariantAnswers[st.variant] != ""; isPartial {
			continue
		}
		if i == 0 {
			st.ID = m.ID
		}
		list = append(list, st)
	}
	return list
}

// servedBy returns the apps that have stacks: those of tare, then others by name.
func servedBy(c catalog.Catalog) []apps.App {
	var list, others []apps.App
	for _, a := range apps.All() {
		if len(stacksFor(c, a.Name)) > 0 {
			list = append(list, a)
		}
	}
	for _, leaf := range c.Leaves() {
		for _, name := range leaf.Manifest.Apps {
			hasName := func(a apps.App) bool { return a.Name == name }
			isListed := slices.ContainsFunc(list, hasName) || slices.ContainsFunc(others, hasName)
			if len(stacksFor(c, name)) > 0 && !isListed {
				others = append(others, apps.App{App: server.App{Name: name}})
			}
		}
	}
	slices.SortFunc(others, func(a, b apps.App) int { return strings.Compare(a.Name, b.Name) })
	return append(list, others...)
}

func appNames(list []apps.App) []string {
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

// findStack finds a stack by its ID or catalogID. "" selects the app's default.
func findStack(c catalog.Catalog, app, name string) (stack, error) {
	served := servedBy(c)
	i := slices.IndexFunc(served, func(a apps.App) bool { return a.Name == app })
	if i < 0 {
		return stack{}, cmdenv.Unknown("app", app, appNames(served), "tare serve lists them", "tare serve")
	}
	list := stacksFor(c, app)
	if name == "" {
		name = served[i].Stack
		if !slices.ContainsFunc(list, func(s stack) bool { return s.ID == name }) {
			return stack{}, cmdenv.Usage(fmt.Sprintf("%s is served by no stack where none is named", app), "--stack selects one; tare serve lists them")
		}
	}
	var names []string
	for _, st := range list {
		if st.ID == name || st.catalogID == name {
			return st, nil
		}
		names = append(names, st.ID)
	}
	if slices.Contains(c.IDs(server.Kind), name) || slices.Contains(c.IDs(rpc.Kind), name) {
		return stack{}, cmdenv.Usage(fmt.Sprintf("stack %s does not serve %s", name, app), "tare serve lists those that do", "tare serve")
	}
	return stack{}, cmdenv.Unknown("stack", name, names, "tare serve lists them", "tare serve")
}

type servedRow struct {
	App      string       `json:"app"`
	What     string       `json:"what"`
	Default  string       `json:"default_stack"`
	Stacks   []stack      `json:"stacks"`
	Settings []settingRow `json:"settings"`
}

type settingRow struct {
	Flag    string `json:"flag"`
	Env     string `json:"env"`
	Default string `json:"default"`
	Help    string `json:"help"`

	value string // placeholder of the value in the help
}

func listServed(env cmdenv.Env, dir string, asJSON bool) error {
	c, err := env.FindCatalog(dir)
	if err != nil {
		return err
	}
	rows := []servedRow{}
	for _, a := range servedBy(c) {
		row := servedRow{App: a.Name, What: a.What, Default: a.Stack, Stacks: stacksFor(c, a.Name), Settings: []settingRow{}}
		for _, set := range a.Settings() {
			_, value := splitHelp(set)
			row.Settings = append(row.Settings, settingRow{
				Flag: "--" + set.Name, Env: set.Env(), Default: set.Default, Help: strings.ReplaceAll(set.Help, "`", ""), value: value,
			})
		}
		rows = append(rows, row)
	}
	if asJSON {
		return cmdenv.PrintJSON(env.Out, struct {
			Apps []servedRow `json:"apps"`
		}{rows})
	}
	bold := env.Style(env.Out).Bold
	for _, row := range rows {
		title := cmdenv.Paint(bold, row.App)
		if row.What != "" {
			title += ": " + row.What
		}
		fmt.Fprintln(env.Out, title)
		if err := row.writeText(env.Out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(env.Out, "tare serve APP runs one; tare serve --help lists what is the same for all, such as --addr")
	return err
}

func (r servedRow) writeText(w io.Writer) error {
	var names []string
	for _, st := range r.Stacks {
		name := st.ID + cmdenv.Dagger(st.Trap)
		if st.ID == r.Default {
			names = slices.Insert(names, 0, name+" (default)")
			continue
		}
		names = append(names, name)
	}
	label := "stacks"
	for _, line := range wrapNames(names, 90) {
		fmt.Fprintf(w, "  %-8s%s\n", label, line)
		label = "" // only before the first line
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, set := range r.Settings {
		flag := strings.TrimSpace(set.Flag + " " + set.value)
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", flag, set.Env, cmp.Or(set.Default, "-"), set.Help)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func wrapNames(names []string, width int) []string {
	lines := []string{""}
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = name
		case len(*last)+1+len(name) > width:
			lines = append(lines, name)
		default:
			*last += " " + name
		}
	}
	return lines
}

// completeStacks returns the completion of --stack: the names of the stacks that serve the app.
func completeStacks(env cmdenv.Env, o *options) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := env.FindCatalog(o.catalog)
		if err != nil || len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, st := range stacksFor(c, args[0]) {
			names = append(names, st.ID)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
