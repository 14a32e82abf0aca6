package explain

// Follow does what Run does when there is something new.
func (e *Explainer) Follow() { e.index.follow(e.opts.Objects, e.opts.Journal) }
