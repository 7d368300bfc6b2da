import type { Migration } from './migration.js'

// What proved who the person is: the provider in the configuration (null: the password of this appliance) and the second factor.
// With `provider_session`, a provider ends the sessions that it has begun.
export const signIns: Migration = {
  name: '0142-sign-ins',
  up: [
    `alter table sessions add column provider varchar(64) null,
       add column factor varchar(16) null,
       add column provider_session varchar(255) null`
  ],
  down: ['alter table sessions drop column provider, drop column factor, drop column provider_session']
}
