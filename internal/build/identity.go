package build

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// This file reads from a binary which modules and functions are linked into it. It compares them
// with the claims of the contender's manifest, contender.json. For example, a contender claims to
// use github.com/bytedance/sonic, but its binary contains only encoding/json.

// stdPrefix marks a package of the standard library, e.g. std:encoding/json. Manifests list them together with
// modules.
const stdPrefix = "std:"

// describeBinary compares the modules and functions in the binary with the claims of the manifest.
func describeBinary(path string, m Manifest) (tare.Contender, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return tare.Contender{}, err
	}
	symbols, err := linkedFunctions(path)
	if err != nil {
		return tare.Contender{}, err
	}
	c := tare.Contender{
		Kind: m.Kind,
		Role: tare.RoleContender,
		Why:  m.Why,
		Declared: tare.Declared{
			Expect:   m.Expect,
			Identity: tare.Identity{ClaimedModules: m.Modules, ClaimedSymbols: m.Symbols},
		},
		Build: tare.Build{Go: info.GoVersion, Flags: formatSettings(info.Settings)},
	}
	if m.Trap {
		c.Role = tare.RoleTrap
	}
	c.Adoption.Unmaintained = m.Unmaintained
	if c.SHA256, c.BinaryBytes, err = atomicfile.Digest(path); err != nil {
		return tare.Contender{}, err
	}
	for _, dep := range info.Deps {
		c.Modules = append(c.Modules, toModule(dep))
		if dep.Path != sdkPath {
			c.Adoption.ModulesLinked++
		}
	}
	for _, claim := range m.Modules {
		if !isLinked(c.Modules, symbols, claim) {
			c.Identity.MissingModules = append(c.Identity.MissingModules, claim)
		}
	}
	for _, claim := range m.Symbols {
		if !slices.ContainsFunc(symbols, func(s string) bool { return strings.Contains(s, claim) }) {
			c.Identity.MissingSymbols = append(c.Identity.MissingSymbols, claim)
		}
	}
	c.Name, c.Version = nameAndVersion(m, c)
	return c, nil
}

// nameAndVersion returns the first claimed module or package, which names the contender, and its
// linked version. Both are "" if the manifest claims none.
func nameAndVersion(m Manifest, c tare.Contender) (name, version string) {
	if len(m.Modules) == 0 {
		return "", ""
	}
	if pkg, ok := strings.CutPrefix(m.Modules[0], stdPrefix); ok {
		return pkg, c.Go
	}
	path, _, _ := strings.Cut(m.Modules[0], "@")
	for _, mod := range c.Modules {
		if mod.Path == path {
			return path, mod.Version
		}
	}
	return path, ""
}

// toModule converts a dependency for documents. A replaced module gets the version of its
// replacement, whose code is linked. The version of a directory is "(devel)".
func toModule(dep *debug.Module) tare.Module {
	m := tare.Module{Path: dep.Path, Version: dep.Version}
	if r := dep.Replace; r != nil {
		m.Version, m.Replace = r.Version, r.Path
		if r.Version != "" && r.Version != "(devel)" {
			m.Replace += "@" + r.Version
		}
	}
	return m
}

// isLinked reports whether the binary contains a claimed module: path, path@version or std:package.
// A package of the standard library counts if one of its functions is linked.
func isLinked(modules []tare.Module, symbols []string, claim string) bool {
	if pkg, ok := strings.CutPrefix(claim, stdPrefix); ok {
		return slices.ContainsFunc(symbols, func(s string) bool { return strings.HasPrefix(s, pkg+".") })
	}
	path, version, hasVersion := strings.Cut(claim, "@")
	return slices.ContainsFunc(modules, func(m tare.Module) bool {
		return m.Path == path && (!hasVersion || m.Version == version)
	})
}

// formatSettings returns the build settings recorded in the binary as key=value, without those of
// version control.
func formatSettings(settings []debug.BuildSetting) []string {
	var out []string
	for _, s := range settings {
		if s.Value != "" && !strings.HasPrefix(s.Key, "vcs") {
			out = append(out, s.Key+"="+s.Value)
		}
	}
	return out
}

// linkedFunctions returns the names of the functions in a binary, from its symbol table. The linker
// omits functions that are never called.
func linkedFunctions(path string) ([]string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		table, err := f.Symbols()
		if err != nil {
			return nil, err
		}
		var names []string
		for _, s := range table {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
				names = append(names, s.Name)
			}
		}
		return names, nil
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		if f.Symtab == nil {
			return nil, errors.New("no symbol table")
		}
		var names []string
		for _, s := range f.Symtab.Syms {
			if s.Sect > 0 && int(s.Sect) <= len(f.Sections) && f.Sections[s.Sect-1].Name == "__text" {
				names = append(names, strings.TrimPrefix(s.Name, "_"))
			}
		}
		return names, nil
	}
	f, err := pe.Open(path)
	if err != nil {
		return nil, errors.New("not a binary for any known system")
	}
	defer f.Close()
	var names []string
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n > 0 && n <= len(f.Sections) && f.Sections[n-1].Name == ".text" {
			names = append(names, s.Name)
		}
	}
	return names, nil
}
