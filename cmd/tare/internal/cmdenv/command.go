package cmdenv

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is a command line of tare that a hint advises. Its methods return a changed copy.
type Command struct {
	env   []string // NAME=value before the command
	path  string   // names of the command and its parents, e.g. tare gate
	flags []commandFlag
	args  []string
}

type commandFlag struct {
	name, value string
	plain       bool // printed without its value
}

// CommandOf returns the user's command line, with the flags in the order in which they were set.
func CommandOf(cmd *cobra.Command) Command {
	c := Command{path: cmd.CommandPath(), args: cmd.Flags().Args()}
	set := cmd.Flags()
	sortFlags := set.SortFlags
	set.SortFlags = false // Visit would sort them by name
	set.Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		if !isList {
			value := f.Value.String()
			isDefault := f.NoOptDefVal != "" && value == f.NoOptDefVal // what --flag alone means
			c.flags = append(c.flags, commandFlag{name: f.Name, value: value, plain: isDefault})
			return
		}
		for _, value := range list.GetSlice() {
			c.flags = append(c.flags, commandFlag{name: f.Name, value: value})
		}
	})
	set.SortFlags = sortFlags
	return c
}

// NewCommand returns a command line without flags; path is e.g. "tare bench".
func NewCommand(path string, args ...string) Command { return Command{path: path, args: args} }

// Set changes the value of a flag, or adds the flag.
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

// WithFlagsOf adds the flags of another command line that are in names.
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

// WithEnv adds variables NAME=value, which the shell sets for this command only.
func (c Command) WithEnv(env ...string) Command {
	c.env = append(slices.Clone(c.env), env...)
	return c
}

// String returns the command line for a POSIX shell. If an argument looks like a flag, all come last,
// after "--".
func (c Command) String() string {
	var words []string
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		words = append(words, name+"="+ShellQuote(value))
	}
	words = append(words, c.path)
	looksLikeFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-" }
	needsDashes := slices.ContainsFunc(c.args, looksLikeFlag)
	if !needsDashes {
		words = append(words, quotedAll(c.args)...)
	}
	for _, f := range c.flags {
		switch {
		case f.plain:
			words = append(words, "--"+f.name)
		case f.value == "" || f.value == "true" || f.value == "false" || strings.HasPrefix(f.value, "-"):
			words = append(words, "--"+f.name+"="+ShellQuote(f.value))
		default:
			words = append(words, "--"+f.name, ShellQuote(f.value))
		}
	}
	if needsDashes {
		words = append(append(words, "--"), quotedAll(c.args)...)
	}
	return strings.Join(words, " ")
}

func quotedAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, ShellQuote(text))
	}
	return out
}
