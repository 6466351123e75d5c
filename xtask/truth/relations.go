// Prints the edges and uses of a Go tree, for `cargo xtask truth`.
//
// Go's own build rules say which files make a package, Go's own type checker which declaration a name
// means. Nothing of the tree is run. Each package is checked as it is for three systems, with its
// tests. Input and output are JSON: see xtask/src/truth/oracle.rs. What an edge and a use are is in
// xtask/src/truth/mod.rs.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type question struct {
	Root  string   `json:"root"`
	Files []string `json:"files"`
}

type relation struct {
	From string `json:"from"`
	To   string `json:"to"`
	Name string `json:"name,omitempty"`
	Line int    `json:"line"`
}

type answer struct {
	Edges  []relation `json:"edges"`
	Uses   []relation `json:"uses"`
	Unsure []relation `json:"unsure"`
}

// key is a relation without its line.
type key struct{ from, to, name string }

// reader collects what the files of a tree say.
type reader struct {
	root  string
	known map[string]bool
	// The files that declare each name of a folder, in any build.
	declared map[[2]string]map[string]bool
	uses     map[key]int
	checked  map[string]bool
}

func main() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	root, err := filepath.EvalSymlinks(asked.Root)
	if err != nil {
		fail(err)
	}
	// Packages are found by their import paths below the folder that Debian calls gocode.
	at := strings.LastIndex(root, "/gocode/src/")
	if at < 0 {
		fail(fmt.Errorf("%s is not below gocode/src", root))
	}
	os.Setenv("GO111MODULE", "off")
	build.Default.GOPATH = root[:at+len("/gocode")]
	build.Default.CgoEnabled = false
	r := &reader{
		root:     root,
		known:    map[string]bool{},
		declared: map[[2]string]map[string]bool{},
		uses:     map[key]int{},
		checked:  map[string]bool{},
	}
	folders := map[string]bool{}
	for _, file := range asked.Files {
		r.known[file] = true
		folders[filepath.Dir(file)] = true
		r.declarations(file)
	}
	for _, system := range []string{"linux", "windows", "darwin"} {
		build.Default.GOOS = system
		fset := token.NewFileSet()
		imports := r.importer(fset)
		for folder := range folders {
			r.folder(fset, imports, folder)
		}
	}
	for _, file := range asked.Files {
		if !r.checked[file] {
			r.inOtherBuild(file)
		}
	}
	// What no build includes is a program by itself: `//go:build ignore`.
	fset := token.NewFileSet()
	imports := r.importer(fset)
	for _, file := range asked.Files {
		if !r.checked[file] {
			r.check(fset, imports, filepath.Dir(file), "main", []string{filepath.Base(file)})
		}
	}
	r.print()
}

// inOtherBuild checks the folder of a file as in a build that includes the file: with its tags, for its
// system, by an older Go.
func (r *reader) inOtherBuild(file string) {
	text, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		return
	}
	before := build.Default
	defer func() { build.Default = before }()
	var condition constraint.Expr
	for _, line := range strings.Split(string(text), "\n") {
		if constraint.IsGoBuild(line) {
			condition, _ = constraint.Parse(line)
			break
		}
	}
	systems := []string{"linux", "windows", "darwin", "freebsd", "js", "plan9", "solaris", "aix", "android"}
	tags := map[string]bool{}
	if condition != nil {
		condition.Eval(func(tag string) bool { tags[tag] = true; return true })
		condition.Eval(func(tag string) bool { tags[tag] = true; return false })
	}
	if tags["ignore"] {
		return
	}
	for _, system := range systems {
		for _, with := range []bool{true, false} {
			build.Default = before
			build.Default.GOOS = system
			for tag := range tags {
				if with && !strings.HasPrefix(tag, "go1.") {
					build.Default.BuildTags = append(build.Default.BuildTags, tag)
				}
				for at, release := range build.Default.ReleaseTags {
					if tag == release && !with {
						build.Default.ReleaseTags = build.Default.ReleaseTags[:at]
						break
					}
				}
			}
			included, _ := build.Default.MatchFile(filepath.Join(r.root, filepath.Dir(file)), filepath.Base(file))
			if included {
				fset := token.NewFileSet()
				r.folder(fset, r.importer(fset), filepath.Dir(file))
				return
			}
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// declarations notes the names that a file declares for its package.
func (r *reader) declarations(file string) {
	parsed, _ := parser.ParseFile(token.NewFileSet(), filepath.Join(r.root, file), nil, 0)
	if parsed == nil {
		return
	}
	note := func(name string) {
		at := [2]string{filepath.Dir(file), name}
		if r.declared[at] == nil {
			r.declared[at] = map[string]bool{}
		}
		r.declared[at][file] = true
	}
	for _, declaration := range parsed.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if declaration.Recv == nil {
				note(declaration.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					note(spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						note(name.Name)
					}
				}
			}
		}
	}
}

// folder checks the package of a folder, the same with its tests, and the tests beside it.
func (r *reader) folder(fset *token.FileSet, imports types.Importer, folder string) {
	found, _ := build.Default.ImportDir(filepath.Join(r.root, folder), 0)
	if found == nil {
		return
	}
	path := found.ImportPath
	r.check(fset, imports, folder, path, found.GoFiles)
	if len(found.TestGoFiles)+len(found.XTestGoFiles) == 0 {
		return
	}
	inside := append(append([]string{}, found.GoFiles...), found.TestGoFiles...)
	tested := r.check(fset, imports, folder, path, inside)
	beside := &withTested{imports, path, tested}
	r.check(fset, beside, folder, path+"_test", found.XTestGoFiles)
}

// lenient imports packages of the tree also if they import what is not installed.
type lenient struct {
	r        *reader
	fset     *token.FileSet
	base     string
	packages map[string]*types.Package
	others   types.Importer
}

func (r *reader) importer(fset *token.FileSet) types.Importer {
	base, _ := build.Default.ImportDir(r.root, build.FindOnly)
	others := importer.ForCompiler(fset, "source", nil)
	return &lenient{r, fset, base.ImportPath, map[string]*types.Package{}, others}
}

func (l *lenient) Import(path string) (*types.Package, error) {
	if path != l.base && !strings.HasPrefix(path, l.base+"/") {
		return l.others.Import(path)
	}
	if known, ok := l.packages[path]; ok {
		return known, nil
	}
	folder := strings.TrimPrefix(strings.TrimPrefix(path, l.base), "/")
	found, err := build.Default.ImportDir(filepath.Join(l.r.root, folder), 0)
	if err != nil {
		return nil, err
	}
	l.packages[path] = l.r.check(l.fset, l, filepath.Clean(folder), path, found.GoFiles)
	return l.packages[path], nil
}

// withTested gives tests beside a package what its test files export.
type withTested struct {
	imports types.Importer
	path    string
	tested  *types.Package
}

func (w *withTested) Import(path string) (*types.Package, error) {
	if path == w.path && w.tested != nil {
		return w.tested, nil
	}
	return w.imports.Import(path)
}

// check reads the names in some files of a folder as one package.
func (r *reader) check(fset *token.FileSet, imports types.Importer, folder, path string, names []string) *types.Package {
	var files []*ast.File
	for _, name := range names {
		file := filepath.Join(folder, name)
		r.checked[file] = true
		if !r.known[file] {
			continue
		}
		parsed, _ := parser.ParseFile(fset, filepath.Join(r.root, file), nil, 0)
		if parsed != nil {
			files = append(files, parsed)
		}
	}
	if len(files) == 0 {
		return nil
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Packages that are not installed leave errors behind, and no names of this tree.
	config := types.Config{Importer: imports, Error: func(error) {}, FakeImportC: true}
	checked, _ := config.Check(path, fset, files, info)
	for name, object := range info.Uses {
		if object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
			continue
		}
		place := fset.Position(name.Pos())
		from, to := r.relative(place.Filename), r.relative(fset.Position(object.Pos()).Filename)
		if from == to || !r.known[from] || !r.known[to] {
			continue
		}
		at := key{from, to, object.Name()}
		if line, ok := r.uses[at]; !ok || place.Line < line {
			r.uses[at] = place.Line
		}
	}
	return checked
}

func (r *reader) relative(file string) string {
	path, err := filepath.Rel(r.root, file)
	if err != nil {
		return file
	}
	return path
}

func (r *reader) print() {
	result := answer{[]relation{}, []relation{}, []relation{}}
	edges, unsure := map[key]int{}, map[key]int{}
	for at, line := range r.uses {
		result.Uses = append(result.Uses, relation{at.from, at.to, at.name, line})
		table := edges
		// Another file declares the name too, for another system.
		if len(r.declared[[2]string{filepath.Dir(at.to), at.name}]) > 1 {
			table = unsure
			for file := range r.declared[[2]string{filepath.Dir(at.to), at.name}] {
				result.Unsure = append(result.Unsure, relation{at.from, file, at.name, line})
				unsure[key{at.from, file, ""}] = line
			}
		}
		between := key{at.from, at.to, ""}
		if before, ok := table[between]; !ok || line < before {
			table[between] = line
		}
	}
	for at, line := range edges {
		result.Edges = append(result.Edges, relation{at.from, at.to, "", line})
	}
	for at, line := range unsure {
		if _, ok := edges[at]; !ok {
			result.Unsure = append(result.Unsure, relation{at.from, at.to, "", line})
		}
	}
	for _, list := range [][]relation{result.Edges, result.Uses, result.Unsure} {
		list := list
		sort.Slice(list, func(i, j int) bool {
			a, b := list[i], list[j]
			return a.From+"\x00"+a.To+"\x00"+a.Name < b.From+"\x00"+b.To+"\x00"+b.Name
		})
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fail(err)
	}
}
