package cgocopytest

import (
	"fmt"
	"strings"
)

// before is the beginning of the C program, before the #include lines of the tested headers.
const before = `#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
`

// macros has the macros with which fill functions set members. They set a number (SET), an address (ADDR),
// a nil pointer (NIL), a text (TEXT) or a text with a letter for an index (TEXTI). They copy bytes, because
// a member may be const.
const macros = `
#define SET(m, x) do { __typeof__(m) t_ = (__typeof__(m))(x); memcpy((void *)&(m), (void *)&t_, sizeof t_); } while (0)
#define ADDR(m, x) do { uintptr_t t_ = (uintptr_t)(x); memcpy((void *)&(m), &t_, sizeof t_); } while (0)
#define NIL(m) memset((void *)&(m), 0, sizeof(m))
#define TEXT(m, s) do { memset((void *)&(m), 0, sizeof(m)); memcpy((void *)&(m), s, sizeof(s) - 1); } while (0)
#define TEXTI(m, s, i) do { TEXT(m, s); ((char *)&(m))[sizeof(s) - 1] = (char)('a' + (i) % 26); } while (0)

#if defined(__x86_64__)
#define ARCH_ "amd64"
#elif defined(__i386__)
#define ARCH_ "386"
#elif defined(__aarch64__)
#define ARCH_ "arm64"
#elif defined(__arm__)
#define ARCH_ "arm"
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_ "riscv64"
#elif defined(__loongarch64)
#define ARCH_ "loong64"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH_ "ppc64le"
#elif defined(__s390x__)
#define ARCH_ "s390x"
#else
#define ARCH_ "another processor"
#endif

`

// show is the function that prints a struct. Bytes that no fill function sets are 0xa5.
const show = `
static void show_(const char *name, void (*fill)(void *), size_t size) {
	unsigned char *p = (unsigned char *)malloc(size);
	size_t i;
	memset(p, 0xa5, size);
	fill(p);
	printf("%s %lu ", name, (unsigned long)size);
	for (i = 0; i < size; i++) printf("%02x", p[i]);
	printf("\n");
	free(p);
}
`

// formatSource returns the program's source.
func (p Program) formatSource() string {
	var b strings.Builder
	b.WriteString(before)
	for _, h := range p.Headers {
		if !strings.HasPrefix(h, "<") {
			h = `"` + h + `"`
		}
		fmt.Fprintf(&b, "#include %s\n", h)
	}
	b.WriteString(macros)
	b.WriteString(p.Source)
	for _, f := range p.Fills {
		fmt.Fprintf(&b, "static void any_%s(void *p) { %s((%s *)p); }\n", f.Func, f.Func, f.Type)
	}
	b.WriteString(show)
	b.WriteString("int main(void) {\n\tputs(ARCH_);\n")
	for _, f := range p.Fills {
		fmt.Fprintf(&b, "\tshow_(\"%s\", any_%s, sizeof(%s));\n", f.Func, f.Func, f.Type)
	}
	b.WriteString("\treturn 0;\n}\n")
	return b.String()
}
