/**
 * Why somebody gets a mail, behind "You get this mail because". A reason that is missing here stands there as it is. The
 * header X-Gitstead-Reason has the name, for filters.
 */
const REASONS: { readonly [name: string]: string } = {
  test: 'somebody asked for a test',
  author: 'you are its author',
  assignee: 'you are its assignee',
  previous_assignee: 'you were its assignee',
  participant: 'you take part in it',
  mentioned: 'you were mentioned',
  subscriber: 'you have subscribed to it',
  label_subscriber: 'you have subscribed to one of its labels',
  pipeline_user: 'it was started in your name',
  watcher: 'you watch the project',
  service: 'your address is in the settings of the project',
  custom: 'you want to hear of such events in the project',
  digest: 'more mails were for you in this hour than one address gets',
  security: 'this concerns the safety of your account',
  sign_up: 'somebody signed up with this address',
  confirmation: 'somebody entered this address as theirs',
  password: 'somebody asked for a new password for the account with this address',
  password_offered: 'an administrator has sent it to you',
  account: 'an administrator has made an account for you',
  membership: 'your membership has changed',
  approver: 'you decide who becomes a member',
  requester: 'you have asked for access',
  member: 'you are a member of the project'
}

export const reasonText = (name: string): string => (Object.hasOwn(REASONS, name) ? (REASONS[name] as string) : name)
