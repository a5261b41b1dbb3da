package cli

const worldHeader = `#include <stdint.h>
#include <stdbool.h>

typedef struct { double x, y, z; } Point3D;
enum kind { NPC, PLAYER, BOSS };
struct item { char label[10]; int n; double weight; };
struct event { int kind; union { int code; double value; } u; };
struct name { const char *text; unsigned char tag[4]; };
#pragma pack(push, 1)
struct packed { char c; int n; short s; double d; };
#pragma pack(pop)
typedef struct GameObject {
	int id;
	char name[64];
	Point3D position;
	float health;
	unsigned short level;
	enum kind kind;
	unsigned flags : 3, dead : 1;
	int delta : 5;
	bool visible;
	const char *note;
	struct item *items;
	int items_count;
	void (*on_hit)(int);
	unsigned char raw[8];
	char code[4];
	struct { int row, col; };
	struct item bag[2];
	struct GameObject *next;
	char spare[3];
	long serial;
	struct event event;
	struct packed packed;
	int grid[2][3];
	char labels[2][6];
	struct name names[2];
	int samples[8];
	int samples_count;
	enum kind kinds[2];
	char grade;
	char note_bytes[6];
	struct { union { int as_int; float as_float; }; int which; } odd;
} GameObject;

GameObject *world(void);
Point3D *points(void);
struct item *items(void);
`

const worldC = `#include "world.h"
#include <string.h>

static void hit(int n) { (void)n; }
static struct item things[3] = {{"sword", 1, 2.5}, {"0123456789", -2, 0.25}, {"", 3, 1e300}};
static GameObject second = {.id = 8, .name = "second"};
static GameObject one = {
	.id = -7, .position = {1.5, -2.5, 3.5}, .health = 0.5f, .level = 65535, .kind = BOSS,
	.flags = 5, .dead = 1, .delta = -9, .visible = true, .note = "a note", .items = things, .items_count = 3,
	.on_hit = hit, .raw = {1, 2, 3, 4, 5, 6, 7, 8}, .code = {'a', 'b', 'c', 'd'}, .row = 11, .col = -12,
	.bag = {{"first", 1, 1}, {"second", 2, 2}}, .next = &second, .serial = 1234567890123L,
	.event = {1, {.value = 6.25}}, .packed = {'x', -100000, -5, 9.5},
	.grid = {{1, 2, 3}, {4, 5, 6}}, .labels = {"one", "sixsix"}, .names = {{"n1", {1, 2, 3, 4}}, {"n2", {5, 6, 7, 8}}},
	.samples = {9, 8, 7}, .samples_count = 3,
	.kinds = {BOSS, PLAYER}, .grade = -3, .note_bytes = "bytes", .odd = {{.as_float = 0.75f}, 1},
};
static Point3D line[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};

GameObject *world(void) {
	memset(one.name, 'n', 64);
	return &one;
}
Point3D *points(void) { return line; }
struct item *items(void) { return things; }
`

const worldGo = `package main

/*
#include "world.h"
*/
import "C"

import (
	"encoding/json"
	"os"
	"time"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

//go:generate cgocopy bind -type Game=GameObject,Brief=item world.h

type Kind int

type Small int32

type Odd struct {
	Which int
	Value AnyOf ` + "`cgocopy:\"as_int,union=which:0:as_int,1:as_float\"`" + `
}

type AnyOf struct {
	Int   int     ` + "`cgocopy:\"as_int\"`" + `
	Float float32 ` + "`cgocopy:\"as_float\"`" + `
}

type Text string

type Yes bool

type Celsius float64

type Point struct{ X, Y, Z float64 }

// Item is smaller than struct item: it leaves weight out.
type Item struct {
	Label Text
	N     int
}

// Brief is a second view of the same C type.
type Brief struct {
	Weight float64
	seen   int
}

type Cell struct{ Row, Col int }

type Event struct {
	Kind  int64
	Value EventUnion ` + "`cgocopy:\"u,union=kind:0:code,1:value\"`" + `
}

type EventUnion struct {
	Code  int
	Value Celsius
}

type Packed struct {
	C byte
	N int64
	S int
	D Celsius
}

type Name struct {
	Text string
	Tag  [4]byte
}

type Game struct {
	ID       int
	Name     string
	Position Point
	HEALTH   Celsius
	Level    int32
	Kind     Kind
	Flags    uint8
	Dead     Yes
	Delta    int
	Visible  Yes
	Note     []byte
	Items    []Item ` + "`cgocopy:\"items,len=items_count,max=100\"`" + `
	Hit      uintptr ` + "`cgocopy:\"on_hit\" json:\"-\"`" + `
	Raw      [8]uint8
	Code     [4]byte
	Cell
	Bag      [2]Item
	Next     *Game ` + "`cgocopy:\",depth=3\"`" + `
	Serial   time.Duration
	Event    Event
	Packed   Packed
	Grid     [2][3]int64
	Labels   [2]string
	Names    [2]Name
	Kinds    [2]Small
	Grade    int8
	NoteBytes []byte
	Samples  []int ` + "`cgocopy:\",len=samples_count\"`" + `
	Odd      Odd
	cache    string
	Mine     map[string]int ` + "`cgocopy:\"-\"`" + `
}

func main() {
	var all struct {
		Game   Game
		Points []Point
		Items  []Item
		Briefs []Brief
		Errors []string
	}
	must := func(err error) {
		if err != nil {
			all.Errors = append(all.Errors, err.Error())
		}
	}
	all.Game.cache, all.Game.Mine = "kept", map[string]int{"kept": 1}
	must(all.Game.FromC(unsafe.Pointer(C.world())))
	must(all.Game.FromC(unsafe.Pointer(C.world())))
	if all.Game.Hit == 0 || all.Game.cache != "kept" {
		all.Errors = append(all.Errors, "hit or cache is wrong")
	}
	var err error
	all.Points, err = cgocopy.CopySlice[Point](unsafe.Pointer(C.points()), 3)
	must(err)
	all.Items, err = ItemsFromC(nil, unsafe.Pointer(C.items()), 3)
	must(err)
	all.Briefs, err = BriefsFromC([]Brief{{seen: 4}}, unsafe.Pointer(C.items()), 3)
	must(err)
	if all.Briefs[0].seen != 4 || SizeofItem != 24 || SizeofBrief != 24 {
		all.Errors = append(all.Errors, "seen or a size is wrong")
	}
	must(cgocopy.ErrNilPointer)
	must(all.Game.FromC(nil))
	must(json.NewEncoder(os.Stdout).Encode(all))
}
`

const worldWant = `{"Game":{"ID":-7,"Name":"` + "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" +
	`","Position":{"X":1.5,"Y":-2.5,"Z":3.5},"HEALTH":0.5,"Level":65535,"Kind":2,"Flags":5,"Dead":true,"Delta":-9,"Visible":true,"Note":"YSBub3Rl",` +
	`"Items":[{"Label":"sword","N":1},{"Label":"0123456789","N":-2},{"Label":"","N":3}],"Raw":[1,2,3,4,5,6,7,8],"Code":[97,98,99,100],"Row":11,"Col":-12,` +
	`"Bag":[{"Label":"first","N":1},{"Label":"second","N":2}],"Next":{"ID":8,"Name":"second","Position":{"X":0,"Y":0,"Z":0},"HEALTH":0,"Level":0,"Kind":0,` +
	`"Flags":0,"Dead":false,"Delta":0,"Visible":false,"Note":"","Items":null,"Raw":[0,0,0,0,0,0,0,0],"Code":[0,0,0,0],"Row":0,"Col":0,` +
	`"Bag":[{"Label":"","N":0},{"Label":"","N":0}],"Next":null,"Serial":0,"Event":{"Kind":0,"Value":{"Code":0,"Value":0}},"Packed":{"C":0,"N":0,"S":0,"D":0},` +
	`"Grid":[[0,0,0],[0,0,0]],"Labels":["",""],"Names":[{"Text":"","Tag":[0,0,0,0]},{"Text":"","Tag":[0,0,0,0]}],"Kinds":[0,0],"Grade":0,"NoteBytes":"","Samples":null,"Odd":{"Which":0,"Value":{"Int":0,"Float":0}},"Mine":null},"Serial":1234567890123,` +
	`"Event":{"Kind":1,"Value":{"Code":0,"Value":6.25}},"Packed":{"C":120,"N":-100000,"S":-5,"D":9.5},"Grid":[[1,2,3],[4,5,6]],"Labels":["one","sixsix"],` +
	`"Names":[{"Text":"n1","Tag":[1,2,3,4]},{"Text":"n2","Tag":[5,6,7,8]}],"Kinds":[2,1],"Grade":-3,"NoteBytes":"Ynl0ZXM=","Samples":[9,8,7],"Odd":{"Which":1,"Value":{"Int":0,"Float":0.75}},"Mine":{"kept":1}},"Points":[{"X":1,"Y":2,"Z":3},{"X":4,"Y":5,"Z":6},{"X":7,"Y":8,"Z":9}],` +
	`"Items":[{"Label":"sword","N":1},{"Label":"0123456789","N":-2},{"Label":"","N":3}],"Briefs":[{"Weight":2.5},{"Weight":0.25},{"Weight":1e+300}],` +
	`"Errors":["nil pointer","nil pointer"]}
`
