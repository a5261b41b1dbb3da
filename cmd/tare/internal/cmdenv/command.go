package cmdenv

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is a command of tare in a hint: the user's, with changes. Its methods return a
// changed copy.
type Command struct {
	env   []string // NAME=value before it
	path  string   // e.g. tare gate
	flags []commandFlag
	args  []string
}

// commandFlag is a flag that is set.
type commandFlag struct {
	name, value string
	plain       bool // printed without its value
}

// CommandOf returns the user's command, with its flags in the order in which they were set.
func CommandOf(cmd *cobra.Command) Command {
	c := Command{path: cmd.CommandPath(), args: cmd.Flags().Args()}
	set := cmd.Flags()
	sorted := set.SortFlags
	set.SortFlags = false
	set.Visit(func(f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		switch {
		case many:
			for _, value := range list.GetSlice() {
				c.flags = append(c.flags, commandFlag{name: f.Name, value: value})
			}
		default:
			c.flags = append(c.flags, commandFlag{f.Name, f.Value.String(), f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal})
		}
	})
	set.SortFlags = sorted
	return c
}

// NewCommand returns a command without flags, e.g. of path "tare bench".
func NewCommand(path string, args ...string) Command { return Command{path: path, args: args} }

// Set gives a flag another value, and adds it if it is not set.
func (c Command) Set(name, value string) Command {
	c.flags = slices.Clone(c.flags)
	for i := range c.flags {
		if c.flags[i].name == name {
			c.flags[i] = commandFlag{name: name, value: value}
			return c
		}
	}
	c.flags = append(c.flags, commandFlag{name: name, value: value})
	return c
}

// SetPlain sets a flag that is printed without a value.
func (c Command) SetPlain(name string) Command {
	c = c.Set(name, "")
	c.flags[slices.IndexFunc(c.flags, func(f commandFlag) bool { return f.name == name })].plain = true
	return c
}

// WithFlagsOf adds the named flags of another command.
func (c Command) WithFlagsOf(other Command, names ...string) Command {
	c.flags = slices.Clone(c.flags)
	for _, f := range other.flags {
		if slices.Contains(names, f.name) {
			c.flags = append(c.flags, f)
		}
	}
	return c
}

// WithArgs replaces the arguments.
func (c Command) WithArgs(args ...string) Command {
	c.args = args
	return c
}

// WithEnv adds variables NAME=value for this command only.
func (c Command) WithEnv(env ...string) Command {
	c.env = append(slices.Clone(c.env), env...)
	return c
}

// String returns the command for a POSIX shell.
func (c Command) String() string {
	var words []string
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		words = append(words, name+"="+Quoted(value))
	}
	words = append(words, c.path)
	dashed := false
	for _, arg := range c.args {
		dashed = dashed || strings.HasPrefix(arg, "-") && arg != "-"
	}
	if !dashed {
		words = append(words, quotedAll(c.args)...)
	}
	for _, f := range c.flags {
		switch {
		case f.plain:
			words = append(words, "--"+f.name)
		case f.value == "" || f.value == "true" || f.value == "false" || strings.HasPrefix(f.value, "-"):
			words = append(words, "--"+f.name+"="+Quoted(f.value))
		default:
			words = append(words, "--"+f.name, Quoted(f.value))
		}
	}
	if dashed {
		words = append(append(words, "--"), quotedAll(c.args)...)
	}
	return strings.Join(words, " ")
}

// quotedAll quotes each text for a POSIX shell.
func quotedAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, Quoted(text))
	}
	return out
}
