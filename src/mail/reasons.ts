/**
 * Why a person gets a mail, after "You get this mail because". An unknown reason appears as it is. The header X-Gitstead-Reason
 * contains the name, for filters.
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
  custom: 'you chose to get mail about such events in the project',
  digest: 'you had more mails in this hour than the limit for one address',
  security: 'this concerns the security of your account',
  sign_up: 'somebody signed up with this address',
  confirmation: 'somebody entered this address as theirs',
  password: 'somebody asked for a new password for the account with this address',
  password_offered: 'an administrator sent it to you',
  account: 'an administrator created an account for you',
  administrator: 'you are an administrator',
  invited: 'somebody invited this address',
  dormant: 'you have an account that you do not use',
  signed_up: 'you asked for an account',
  mirror: 'the mirror runs in your name',
  membership: 'your membership has changed',
  approver: 'you decide who becomes a member',
  requester: 'you requested access',
  replied: 'you replied to a mail of Gitstead',
  member: 'you are a member of the project'
}

export const reasonText = (name: string): string => (Object.hasOwn(REASONS, name) ? (REASONS[name] as string) : name)
