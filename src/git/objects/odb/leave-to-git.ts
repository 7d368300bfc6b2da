/** What is left to git: an object or a comparison that is too large, too far from a whole one, or not as it should be. */
export class LeaveToGit extends Error {
  override name = 'LeaveToGit'
}
