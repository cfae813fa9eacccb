"""A process with more rights than its caller does not read the caller's environment."""
import os
import unittest
from unittest import mock

import stand  # noqa: F401 - finds the package

from tally.settings import find_socket_paths

CALLERS = {"TALLY_SOCKET": "/callers/socket", "XDG_RUNTIME_DIR": "/callers"}


class SecureEnvironmentTest(unittest.TestCase):
    def paths(self, user, effective_user, group, effective_group):
        with mock.patch.dict(os.environ, CALLERS), \
                mock.patch("os.getuid", return_value=user), \
                mock.patch("os.geteuid", return_value=effective_user), \
                mock.patch("os.getgid", return_value=group), \
                mock.patch("os.getegid", return_value=effective_group):
            return find_socket_paths()

    def test_a_process_with_its_callers_rights_is_told_where_to_send(self):
        self.assertEqual(self.paths(7, 7, 8, 8), ["/callers/socket"])

    def test_one_with_another_users_rights_is_not(self):
        self.assertEqual(self.paths(7, 0, 8, 8), ["/run/tallyfs/socket"])
        self.assertEqual(self.paths(7, 9, 8, 8), ["/run/tallyfs/socket"])

    def test_nor_is_one_with_another_groups_rights(self):
        self.assertEqual(self.paths(7, 7, 8, 0), ["/run/tallyfs/socket"])


if __name__ == "__main__":
    unittest.main()
