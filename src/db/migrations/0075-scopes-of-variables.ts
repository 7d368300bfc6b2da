import type { Migration } from './migration.js'

export const scopesOfVariables: Migration = {
  name: '0075-scopes-of-variables',
  up: [
    // `masked` is null while nobody has chosen: then the value decides, which only the program can decrypt.
    `alter table variables add column masked boolean null, add column protected boolean not null default false,
      add column environment_scope varchar(255) not null default '*',
      drop key variables_name, add unique key variables_name (project_id, name, environment_scope)`
  ],
  // Fails before anything changes when a key has several scopes.
  down: [
    `alter table variables drop key variables_name, add unique key variables_name (project_id, name),
      drop column masked, drop column protected, drop column environment_scope`
  ]
}
