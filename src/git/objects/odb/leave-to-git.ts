/** The caller must ask git: an object or a comparison is too large, its chain of deltas is too long, or its data is not valid. */
export class LeaveToGit extends Error {
  override name = 'LeaveToGit'
}

/** The stored data is not valid. It may have been repaired since it was read. */
export class Damaged extends LeaveToGit {
  override name = 'Damaged'
}
