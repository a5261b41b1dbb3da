package rpc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// Main serves or calls for the lab that started this process, or else serves what
// the command line asks for, and exits.
func Main(f Face) { contender.Main(f.program()) }

// All is Main of several faces in one program. A lab takes one of them for each
// workload, as a variant: a face goes by its name, and by name-variant where it is
// to be another than the first of its variants. Alone they are served side by side
// over one store, which flag -face says more about.
func All(faces map[string]Face) { contender.Main(all(faces)) }

func (f Face) program() contender.Program {
	return program(server.Host{Apps: server.Apps{serving.App(f.Serve, f.Store)}, Variants: f.Variants},
		func(variant string) (Face, string) { return f, variant })
}

func all(faces map[string]Face) contender.Program {
	var h server.Host
	var store users.Opener
	type place struct {
		face    Face
		variant string
	}
	places := map[string]place{}
	for _, name := range slices.Sorted(maps.Keys(faces)) {
		f := faces[name]
		h.Together = append(h.Together, name)
		if store == nil {
			store = f.Store
		}
		for i, v := range append(f.Variants, make([]string, max(0, 1-len(f.Variants)))...) {
			called := name
			if i > 0 {
				called += "-" + v
			}
			h.Variants = append(h.Variants, called)
			places[called] = place{f, v}
		}
	}
	find := func(variant string) (Face, string) { return places[variant].face, places[variant].variant }
	h.Apps = server.Apps{serving.App(func(o server.Options, s *users.Service) (server.Server, error) {
		f, variant := find(o.Variant)
		o.Variant = variant
		return f.Serve(o, s)
	}, store)}
	return program(h, find)
}

// program is h with the client that goes with each of its variants.
func program(h server.Host, find func(variant string) (Face, string)) contender.Program {
	h.Kind = Kind
	h.HTTP2 = func(variant string) bool {
		f, _ := find(variant)
		return len(f.Protocols) > 0 && !slices.ContainsFunc(f.Protocols, func(p string) bool { return p != GRPC })
	}
	p := h.Program()
	p.Prepares = func(w wire.Workload) bool { return w.Set[SetAddr] != "" }
	p.Prepare = func(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		f, variant := find(variant)
		if f.Dial == nil {
			return contender.Work{}, fmt.Errorf("it brings no client: %w", contender.ErrUnsupported)
		}
		return f.prepare(variant, w, bodies)
	}
	return p
}
