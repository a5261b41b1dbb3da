package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/report/html"
)

// saveRun adds the user's request, a seal (see sealResult) and profiles to res. It writes res and a page next
// to the journal. It adds its errors to err. res may be nil.
func (w *Session) saveRun(dir string, res *tare.Result, err error) (*tare.Result, error) {
	if res == nil {
		return nil, err
	}
	w.recordAsked(res)
	if errSeal := sealResult(w.Dirs, res); errSeal != nil {
		err = errors.Join(err, errSeal) // the result is saved; rerun will want --trust
	}
	w.dirs[res] = dir
	if errProfiles := addProfiles(dir, res); errProfiles != nil {
		err = errors.Join(err, errProfiles)
	}
	if errSave := saveResult(atomicfile.System{}, dir, res); errSave != nil {
		return res, errors.Join(err, errSave)
	}
	if w.Ordered { // another machine reports the result
		return res, err
	}
	if w.Options.NoPage {
		w.Progress.Note("kept in " + dir)
		return res, err
	}
	if errPage := cmdenv.SavePage(filepath.Join(dir, cmdenv.PageName), dir, res); errPage != nil {
		return res, errors.Join(err, errPage)
	}
	w.Progress.Note("kept in " + dir + "; " + cmdenv.PageName + " there is the page")
	return res, err
}

// Keep adds a result to w.Results and prints it. The error may be the result's exit code.
func (w *Session) Keep(res *tare.Result) error {
	w.Results = append(w.Results, res)
	if err := w.printResult(res); err != nil {
		return err
	}
	if res.Stopped == lab.Interrupted {
		return cmdenv.Code(cmdenv.ExitInterrupted)
	}
	if w.Options.ExitCode {
		return cmdenv.Code(cmdenv.VerdictCode(res))
	}
	return nil
}

// KeepUntimed is Keep for a result without timed rounds, which no run of the laboratory has filled. The
// history does not have it.
func (w *Session) KeepUntimed(ctx context.Context, study tare.Study, res *tare.Result) error {
	w.current = cmdenv.Study{Study: study}
	res.Started, res.Seed, res.Machine = w.Now().UTC(), fmt.Sprint(w.Options.Seed), w.Lab.Facts(ctx)
	w.recordAsked(res)
	return w.Keep(res)
}

func (w *Session) printResult(res *tare.Result) error {
	f := w.Options.Format
	if f.Write == nil || f.Name == "json" { // printed by the caller, or by Finish
		return nil
	}
	st := w.Style(w.Out)
	if f.Name == "brief" {
		st.Lines = report.BlockLines(len(w.Results)-1, w.studies)
		w.Progress.Pause()
	} else {
		w.Progress.Separate()
	}
	// On a terminal the progress already separates full reports.
	if len(w.Results) == 1 || f.Name == "text" && w.Progress.live {
		return f.Write(w.Out, res, st)
	}
	return f.Next(w.Out, res, st)
}

// writeClaimsPage writes a page about claims (published statements that studies test) for several results. It
// replaces that of an earlier run.
func (w *Session) writeClaimsPage() error {
	if len(w.Results) < 2 || w.Options.NoPage || report.ClaimsCount(w.Results) == "" {
		return nil
	}
	var linked []html.Linked
	for _, r := range w.Results {
		link := html.Linked{Result: r}
		page, err := filepath.Rel(w.Dirs.Data, filepath.Join(w.dirs[r], cmdenv.PageName))
		if isSaved := w.dirs[r] != ""; isSaved && err == nil {
			link.Page = filepath.ToSlash(page)
		}
		linked = append(linked, link)
	}
	path := filepath.Join(w.Dirs.Data, cmdenv.ClaimsName)
	if err := cmdenv.SaveFile(atomicfile.System{}, path, 0o600, func(f io.Writer) error { return html.WriteClaims(f, linked) }); err != nil {
		return err
	}
	w.Progress.Say("claims as a page: " + path)
	return nil
}

// Finish writes the output about all results together, also JSON to out. If single is set, the JSON is one
// document and not a list.
func (w *Session) Finish(out *cmdenv.Output, single bool) error {
	w.Progress.Pause()
	w.Progress.EndStudy()
	if err := cmdenv.WriteTogether(w.Out, w.Options.Format, w.Results, w.Style(w.Out)); err != nil {
		return err
	}
	if len(w.Results) == 0 {
		return nil
	}
	if err := w.writeClaimsPage(); err != nil {
		return err
	}
	if w.Options.Format.Name == "json" {
		if err := cmdenv.WriteDocument(w.Out, w.Results, single); err != nil {
			return err
		}
	}
	return out.Save(func(f io.Writer) error { return cmdenv.WriteDocument(f, w.Results, single) })
}
