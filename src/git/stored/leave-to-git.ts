/** What this code leaves to git: an object that is too large, too far from a whole one, or not as it should be. */
export class LeaveToGit extends Error {
  override name = 'LeaveToGit'
}
