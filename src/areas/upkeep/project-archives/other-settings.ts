/** The settings of a project in an archive whose source has no such settings: those of a new project. */
export const OTHER_SETTINGS = {
  lfs_enabled: true,
  shared_runners_enabled: true,
  public_builds: true,
  request_access_enabled: false,
  only_allow_merge_if_build_succeeds: false,
  only_allow_merge_if_all_discussions_are_resolved: false
} as const
